import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Metrics } from './metrics.js';

/** `ready` decides between 200 and 503; `body` says why. */
export interface Readiness {
  readonly ready: boolean;
  readonly body: { readonly status: string; readonly [detail: string]: unknown };
}

function answer(response: ServerResponse, status: number, contentType: string, text: string): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
}

function answerJson(response: ServerResponse, status: number, value: unknown): void {
  answer(response, status, 'application/json', JSON.stringify(value));
}

/**
 * Health and metrics of a process on a port of its own, so that they answer without a key and however busy the main
 * port is. The caller listens and closes.
 */
export function createHealthServer(options: { readiness: () => Promise<Readiness>; metrics: Metrics }): Server {
  async function handle(path: string, response: ServerResponse): Promise<void> {
    if (path === '/healthz') return answerJson(response, 200, { status: 'ok' });
    if (path === '/readyz') {
      const { ready, body } = await options.readiness();
      return answerJson(response, ready ? 200 : 503, body);
    }
    if (path === '/metrics') return answer(response, 200, options.metrics.contentType, await options.metrics.expose());
    return answerJson(response, 404, { status: 'not_found' });
  }

  return createServer({ requestTimeout: 10_000 }, (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return answerJson(response, 405, { status: 'error' });
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    handle(path, response).catch(() => {
      if (response.headersSent) response.destroy();
      else answerJson(response, 503, { status: 'error' });
    });
  });
}
