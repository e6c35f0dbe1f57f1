import { collect } from './raw-body.js';
import type { Endpoint } from './receiver.js';

/** A handler of Fetch requests, as Bun, Deno, Next.js and others take them. Nothing may read the request before it. */
export function toFetch(endpoint: Endpoint): (request: Request) => Promise<Response> {
  return async (request) => {
    const answer = await endpoint({
      header: (name) => request.headers.get(name) ?? undefined,
      readBody: async () => {
        if (request.bodyUsed) return 'consumed';
        return request.body === null ? new Uint8Array() : collect(request.body);
      },
    });
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
}
