import { request } from 'undici';

export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}

const DEADLINE_MS = 15_000;

/** One HTTP exchange of JSON, whatever the status; throws when no whole answer came within the deadline. */
export async function requestJson(
  method: 'GET' | 'POST' | 'PUT',
  url: string,
  options: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<JsonAnswer> {
  const hasBody = options.body !== undefined;
  const answer = await request(url, {
    method,
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...options.headers },
    body: hasBody ? JSON.stringify(options.body) : null,
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}
