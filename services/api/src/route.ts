import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { ErrorCodeName } from '@undolog/shared/domain/error-codes';
import type { JsonNode } from '@undolog/shared/domain/json-text';
import type { Role } from '@undolog/shared/domain/roles';
import type { Fingerprint } from '@undolog/shared/domain/vault';
import type { RouteSpan, SpanAttributes } from '@undolog/shared/runtime/tracing';
import type { Tx } from '@undolog/shared/store/database';
import type { Operation } from '@undolog/shared/store/operation';
import type { RequestBody } from '@undolog/shared/wire/json-member';
import type { Reply } from './reply.js';
import type { Resources } from './resources.js';

/** Who asks: one key of one org. */
export interface Caller {
  readonly orgId: string;
  readonly keyId: string;
  readonly role: Role;
  /** It came through the web page: the hash of the token of its cookie. */
  readonly signInHash?: Buffer;
}

/** Runs one write of the org; alone, shared with others, or in the transaction of an Idempotency-Key. */
export type Perform = <I, R>(operation: Operation<I, R>, input: I) => Promise<R>;

export interface RequestContext<Body = unknown, Query = unknown> {
  readonly caller: Caller;
  readonly resources: Resources;
  /** Decoded and of the right form: a session id that could exist, UUIDs in lower case. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** The body as it was read, for what needs its text. */
  readonly node: JsonNode;
  /** SHA-256 of the body's canonical text: equal for "the same body". */
  bodyHash(): Buffer;
  /** The same, for a body that holds what must not be guessed from its hash. */
  fingerprint(): Fingerprint;
  /** That of the span which this request is in a trace, else that of its sender. */
  readonly traceparent: string | null;
  /** Adds to what a trace shows of this request; no text of its sender's. */
  readonly note: (attributes: SpanAttributes) => void;
  readonly headers: IncomingHttpHeaders;
  readonly perform: Perform;
}

/** What is known of a request before its body was checked. */
export type RequestFacts = Omit<RequestContext, 'body' | 'perform'>;

export type Method = 'get' | 'post' | 'put' | 'delete';

/** One answer of a route, for the API's documentation. */
export interface Answer {
  readonly description: string;
  readonly schema?: z.ZodType;
}

/** A route of `/v1`, as it is served and as it is documented. */
export interface Route {
  readonly method: Method;
  /** With `{name}` for what varies, as OpenAPI writes it. */
  readonly path: string;
  /** Beside `admin`, who may do everything. */
  readonly roles: readonly Role[];
  readonly summary: string;
  /** It registers an effect, or starts or resumes an unwind, and is called so in a trace. */
  readonly span?: RouteSpan;
  readonly body?: RequestBody;
  /** An absent body counts as `{}`. */
  readonly bodyOptional?: boolean;
  /** The only media type of its body; by default `application/json` or another of JSON. */
  readonly mediaType?: string;
  readonly query?: z.ZodType;
  /** It has transactions of its own, whose repetition changes nothing; an Idempotency-Key's record commits beside them. */
  readonly settlesApart?: boolean;
  /** How long its answer may take; by default as long as any that only needs Postgres. */
  readonly mayTakeMs?: number;
  readonly answers: Readonly<Record<number, Answer>>;
  /** What it may refuse with, beyond what any route may. */
  readonly refusals: readonly ErrorCodeName[];
  handle(context: RequestContext): Promise<Reply>;
  /** Judges a kept answer anew before it is given again under the same Idempotency-Key. */
  replay?(kept: { status: number; text: string }, tx: Tx, facts: RequestFacts): Promise<Reply | undefined>;
}

type TypedRoute<B extends RequestBody, Q extends z.ZodType> = Omit<Route, 'body' | 'query' | 'handle'> & {
  readonly body?: B;
  readonly query?: Q;
  handle(context: RequestContext<z.output<B['schema']>, z.output<Q>>): Promise<Reply>;
};

/** Ties the types of a route's body and query to its handler. */
export function defineRoute<B extends RequestBody = RequestBody, Q extends z.ZodType = z.ZodType>(
  route: TypedRoute<B, Q>,
): Route {
  return route as unknown as Route;
}
