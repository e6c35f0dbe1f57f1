import { fileURLToPath } from 'node:url';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { pageRouter } from './dashboard/page-router.js';
import { underPolicy } from './dashboard/policy.js';
import { queueBoard } from './dashboard/queue-board.js';
import { signInRouter } from './dashboard/sign-in-router.js';
import { docsRouter } from './docs-page.js';
import { errorReplier, notFound, problemHandler } from './middleware/problem.js';
import { limitGuesses } from './middleware/rate-limit.js';
import { refuse } from './reply.js';
import type { Resources } from './resources.js';
import type { Route } from './route.js';
import { ORG_ROUTES } from './routes/all-routes.js';
import { healthRouter } from './routes/health.js';
import { createOrgRoute } from './routes/orgs.js';
import { createV1, type ServeV1 } from './serve-v1.js';

/** The same from the sources and from what is built of them. */
const PAGE_FOLDER = fileURLToPath(new URL('../../../packages/dashboard/dist/', import.meta.url));

/** `{name}`, as OpenAPI writes what varies, to `:name`, as Express does. */
function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/**
 * Every route, and then for each path: a method that it does not have is a 405 that names those it has. In this order,
 * because one path may fit another's pattern, as `/compensations/x/pause` does that of a version.
 */
function mountAll(app: Express, serve: ServeV1, routes: readonly Route[]): void {
  for (const route of routes) app[route.method](expressPath(route.path), serve(route));
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = routes.filter((route) => route.path === path).map((route) => route.method.toUpperCase());
    const allow = methods.join(', ');
    app.all(
      expressPath(path),
      serve({ ...refuse('method_not_allowed', `this path takes ${allow}`), headers: { allow } }),
    );
  }
}

/** The API as an Express app; the caller listens. */
export function createApp(resources: Resources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('trust proxy', resources.config.trustedProxies);

  const serve = createV1(resources);
  mountAll(app, serve, [createOrgRoute, ...ORG_ROUTES]);
  app.use('/v1', serve(refuse('not_found', 'there is no such route')));
  const replyTo = errorReplier(resources.logger);
  // Who may not come in is told so before being told that the address is malformed.
  const faulty: ErrorRequestHandler = (error, request, response, next) =>
    serve(replyTo(error))(request, response, next);
  app.use('/v1', faulty);

  const guesses = limitGuesses();
  app.use(healthRouter(resources), docsRouter(), underPolicy());
  app.use(signInRouter(resources, guesses), queueBoard(resources, guesses), pageRouter(PAGE_FOLDER));
  app.use(notFound);
  app.use(problemHandler(replyTo));
  return app;
}
