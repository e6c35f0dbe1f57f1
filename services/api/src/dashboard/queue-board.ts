import type { Request, RequestHandler } from 'express';
import { Router } from 'express';
import { bearerOrBasic, isAdminToken } from '../middleware/authenticate.js';
import type { GuessLimiter } from '../middleware/rate-limit.js';
import { refuse, send, type Reply } from '../reply.js';
import type { Resources } from '../resources.js';

const PATH = '/dashboard/queues';

/** Nothing of Bull Board is loaded before somebody looks. */
async function loadBoard({ viewQueues, closing }: Resources): Promise<RequestHandler> {
  const [{ createBullBoard }, { BullMQAdapter }, { ExpressAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/express'),
  ]);
  const { queues, close } = viewQueues();
  closing.addEventListener('abort', () => void close());
  const serverAdapter = new ExpressAdapter();
  serverAdapter.setBasePath(PATH);
  createBullBoard({
    queues: queues.map(
      (queue) => new BullMQAdapter(queue as ConstructorParameters<typeof BullMQAdapter>[0], { readOnlyMode: true }),
    ),
    serverAdapter,
    options: { uiConfig: { boardTitle: 'UndoLog: queues of all orgs' } },
  });
  return serverAdapter.getRouter() as RequestHandler;
}

/**
 * Bull Board, for a look at the raw queues, which hold ids of every org: for whoever has the admin token, by a browser's
 * own question for a password. Only reading passes.
 */
export function queueBoard(resources: Resources, guesses: GuessLimiter): Router {
  const { adminToken } = resources.config;
  let board: Promise<RequestHandler> | undefined;

  async function refusalOf(request: Request): Promise<Reply | undefined> {
    const given = bearerOrBasic(request);
    const oneTooMany = given === undefined ? undefined : await guesses.begin(request.ip);
    if (oneTooMany) return oneTooMany;
    if (!isAdminToken(adminToken, given)) {
      const refusal = refuse('unauthorized', 'this needs the admin token, as a password or as Bearer');
      return { ...refusal, headers: { 'www-authenticate': 'Basic realm="queues of all orgs", charset="UTF-8"' } };
    }
    await guesses.wasRight(request.ip);
    if (request.method === 'GET' || request.method === 'HEAD') return undefined;
    return { ...refuse('method_not_allowed', 'the queues can only be looked at'), headers: { allow: 'GET, HEAD' } };
  }

  const router = Router({ caseSensitive: true });
  router.use(PATH, async (request, response, next) => {
    const refusal = await refusalOf(request);
    if (refusal) return send(response, refusal);
    const show = await (board ??= loadBoard(resources));
    response.set('cache-control', 'no-store');
    await show(request, response, next);
  });
  return router;
}
