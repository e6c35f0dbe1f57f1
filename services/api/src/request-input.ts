import type { z } from 'zod';
import { exactValue } from '@undolog/shared/domain/exact-value';
import { JsonText, nodeText, type JsonNode } from '@undolog/shared/domain/json-text';
import { pointerStep } from '@undolog/shared/domain/pointer-step';
import { TRACEPARENT } from '@undolog/shared/domain/traceparent';
import type { RawMembers, RequestBody } from '@undolog/shared/wire/json-member';
import type { Problem } from '@undolog/shared/wire/problem';
import { SESSION_ID_PATTERN, UUID_PATTERN } from '@undolog/shared/wire/text';
import { refuse, type Reply } from './reply.js';

export type Checked<T> = { readonly value: T } | { readonly refused: Reply };

/** The body as plain values, but with the members in `raw` as the text that came. */
function plainBody(node: JsonNode, raw: RawMembers): unknown {
  if (node.kind !== 'object') return exactValue(node);
  const body: Record<string, unknown> = {};
  for (const { key, value } of node.members) {
    const kept = Object.hasOwn(raw, key) ? raw[key] : undefined;
    const member = kept === true ? new JsonText(nodeText(value)) : kept ? plainBody(value, kept) : exactValue(value);
    // Assigned, `__proto__` would change the object; defined, it is a member like any other: unknown, and refused.
    if (key === '__proto__') Object.defineProperty(body, key, { value: member, enumerable: true });
    else body[key] = member;
  }
  return body;
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((step) => pointerStep(String(step))).join('');
}

const MAX_ERRORS_SHOWN = 20;

function errorsOf(error: z.ZodError): NonNullable<Problem['errors']> {
  const errors = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: pointerOf([...issue.path, key]), message: 'is not a known field' }))
      : [{ path: pointerOf(issue.path), message: issue.message }],
  );
  return errors.slice(0, MAX_ERRORS_SHOWN);
}

export function check<T>(schema: z.ZodType<T>, value: unknown): Checked<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data };
  const errors = errorsOf(parsed.error);
  const [first] = errors;
  return { refused: refuse('invalid_request', `${first?.path || 'the body'}: ${first?.message}`, { errors }) };
}

export function checkBody(body: RequestBody, node: JsonNode): Checked<unknown> {
  return body.raw === 'whole' ? { value: node } : check(body.schema, plainBody(node, body.raw));
}

/** Checks the text behind the `?`; a parameter given twice is refused. */
export function checkQuery(schema: z.ZodType, originalUrl: string): Checked<unknown> {
  const start = originalUrl.indexOf('?');
  const query = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(start < 0 ? '' : originalUrl.slice(start + 1))) {
    if (name in query) {
      const errors = [{ path: pointerOf([name]), message: 'is given twice' }];
      return { refused: refuse('invalid_request', `${name} is given twice`, { errors }) };
    }
    query[name] = value;
  }
  return check(schema, query);
}

const UUID_PARAMS = new Set(['effect_id', 'key_id', 'dead_letter_id', 'webhook_id', 'delivery_id']);

/** What can't be an id of ours is not looked up: undefined means that there is no such thing. */
export function checkParams(params: Readonly<Record<string, unknown>>): Record<string, string> | undefined {
  const checked: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    if (typeof value !== 'string') return undefined;
    if (UUID_PARAMS.has(name) && !UUID_PATTERN.test(value)) return undefined;
    if (name === 'session_id' && !SESSION_ID_PATTERN.test(value)) return undefined;
    checked[name] = UUID_PARAMS.has(name) ? value.toLowerCase() : value;
  }
  return checked;
}

/** A malformed trace context counts as none, as its specification asks. */
export function checkTraceparent(header: unknown): string | null {
  return typeof header === 'string' && TRACEPARENT.test(header) ? header : null;
}
