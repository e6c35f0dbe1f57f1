import { Router } from 'express';
import { requireAdminToken } from '../middleware/authenticate.js';
import { answer, send } from '../reply.js';
import type { Resources } from '../resources.js';

/** What load balancers and scrapers ask on the API's own port. */
export function healthRouter({ config, metrics, readiness }: Resources): Router {
  const router = Router({ caseSensitive: true });
  router.get('/healthz', (_request, response) => {
    send(response, answer(200, { status: 'ok' }));
  });
  router.get('/readyz', async (_request, response) => {
    const { ready, body } = await readiness();
    send(response, answer(ready ? 200 : 503, body));
  });
  router.get('/metrics', requireAdminToken(config.adminToken), async (_request, response) => {
    send(response, { status: 200, contentType: metrics.contentType, text: await metrics.expose() });
  });
  return router;
}
