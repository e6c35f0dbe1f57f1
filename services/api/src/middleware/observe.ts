import type { Request, Response, RequestHandler } from 'express';
import { monotonicMs } from '@undolog/shared/runtime/clock';
import type { Logger } from '@undolog/shared/runtime/logger';
import type { Metrics } from '@undolog/shared/runtime/metrics';

/** Set by the route that answers: its path with names instead of ids, so that no id becomes a label. */
export function nameRoute(response: Response, path: string): void {
  response.locals['route'] = path;
}

/** Counts and times every answer; at debug level it logs a line per request, without query or body. */
export function observe(metrics: Metrics, logger: Logger): RequestHandler {
  return (request: Request, response: Response, next) => {
    const startedMs = monotonicMs();
    response.on('finish', () => {
      const route = (response.locals['route'] as string | undefined) ?? 'none';
      const tookMs = monotonicMs() - startedMs;
      metrics.httpSeconds.observe({ method: request.method, route, status: response.statusCode }, tookMs / 1000);
      logger.debug(
        { request_id: response.getHeader('x-request-id'), method: request.method, route, status: response.statusCode, ms: tookMs },
        'answered',
      );
    });
    next();
  };
}
