import type { RequestListener } from 'node:http';
import express from 'express';
import { docsRouter } from './docs-page.js';
import { errorReplier, notFound, problemHandler } from './middleware/problem.js';
import type { Resources } from './resources.js';
import { healthRouter } from './routes/health.js';
import { createV1 } from './serve-v1.js';

/**
 * The whole API; the caller listens.
 *
 * Express serves the pages. `/v1` is what agents wait for at each of their steps, and there Express's own cost (it
 * re-parents every request and response) would be the larger half of an answer, so its requests are taken before
 * Express sees them; docs/adr/0007 has the figures.
 */
export function createApp(resources: Resources): RequestListener {
  const serveV1 = createV1(resources);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(healthRouter(resources), docsRouter());
  app.use(notFound);
  app.use(problemHandler(errorReplier(resources.logger)));
  return (request, response) => {
    if (request.url!.startsWith('/v1/')) serveV1(request, response);
    else app(request, response);
  };
}
