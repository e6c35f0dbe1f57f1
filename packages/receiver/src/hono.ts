import { toFetch } from './fetch.js';
import type { Endpoint } from './receiver.js';

/** The part of Hono's context that is needed. */
interface Context {
  readonly req: { readonly raw: Request };
}

/** A handler for Hono. No middleware before it may read the body. */
export function toHono(endpoint: Endpoint): (context: Context) => Promise<Response> {
  const handle = toFetch(endpoint);
  return (context) => handle(context.req.raw);
}
