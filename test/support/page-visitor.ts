import { bodyOf, type Answer, type Org } from './api-client.js';

/** What `/dashboard/session` says of who is signed in. */
export interface SignedIn {
  readonly org_id: string;
  readonly key_id: string;
  readonly name: string | null;
  readonly role: string;
  readonly csrf_token: string;
  readonly expires_at: string;
}

export interface Sent {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A browser that is signed in to the web page: it has a cookie and no key. */
export class PageVisitor {
  cookie = '';
  /** As the server set it, with its attributes. */
  setCookie = '';
  csrfToken = '';
  url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** A request as the browser alone makes it: with its cookie, and without what the page adds. */
  async bare(method: string, path: string, { body, headers = {} }: Sent = {}): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(this.cookie !== '' && { cookie: `theme=dark; ${this.cookie}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    this.setCookie = response.headers.get('set-cookie') ?? this.setCookie;
    return { status: response.status, headers: response.headers, text: await response.text(), tookMs: 0 };
  }

  /** The same, as the page sends it. */
  request(method: string, path: string, { body, headers }: Sent = {}): Promise<Answer> {
    return this.bare(method, path, { body, headers: { 'x-undolog-csrf': this.csrfToken, ...headers } });
  }

  async signIn({ apiKey }: Pick<Org, 'apiKey'>, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await this.bare('POST', '/dashboard/session', { body: { api_key: apiKey }, headers });
    if (answer.status !== 200) return answer;
    this.cookie = this.setCookie.split(';', 1)[0]!;
    this.csrfToken = bodyOf<SignedIn>(answer).csrf_token;
    return answer;
  }
}
