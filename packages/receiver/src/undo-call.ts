import { problem, type HttpAnswer } from './answer.js';
import type { RawBody } from './raw-body.js';
import type { Verifier } from './signature.js';

/** A request as each adapter hands it over. */
export interface RawRequest {
  header(name: string): string | undefined;
  readBody(): Promise<RawBody>;
}

/** A compensation call that UndoLog has signed. `Args` is what its registration sends; nothing checks it here. */
export interface UndoCall<Args = unknown> {
  /** `undo-…`: the same on every try of this undo, and of no other. */
  readonly key: string;
  /** The Idempotency-Key that the call to be undone carried. */
  readonly effectKey: string;
  readonly sessionId: string;
  readonly effectId: string;
  /** `unknown`: nobody reported whether the call to be undone took effect. */
  readonly effectOutcome: 'committed' | 'unknown';
  /** Counts from 1, over all tries. */
  readonly attempt: number;
  readonly traceparent: string | undefined;
  /** The arguments of the undo; `text` keeps what `JSON.parse` would round. */
  readonly args: Args;
  readonly text: string;
  /** An earlier try began here and never ended; its effect may be there already. Only ever true under `atLeastOnce`. */
  readonly takenOver: boolean;
}

export interface AdmittedCall {
  readonly call: UndoCall;
  readonly bodySha256: string;
}

type Admission = AdmittedCall | { readonly refused: HttpAnswer };

const HEX = 16;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @returns undefined where `read` throws: what came is not what it reads. */
function attempt<T>(read: () => T): { readonly value: T } | undefined {
  try {
    return { value: read() };
  } catch {
    return undefined;
  }
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(HEX).padStart(2, '0')).join('');
}

/** Lets in what UndoLog has signed. Nothing is asked of the database, or parsed, for anybody else. */
export async function admit(request: RawRequest, verify: Verifier): Promise<Admission> {
  const header = (name: string): string => request.header(name) ?? '';
  const bytes = await request.readBody();
  if (bytes === 'consumed') return { refused: problem('raw_body_missing') };
  if (bytes === 'too_large') return { refused: problem('body_too_large') };
  const key = header('idempotency-key');
  const effectKey = header('undolog-effect-key');
  if (key === '' || effectKey === '') return { refused: problem('key_missing') };
  const id = header('webhook-id');
  const signed = { id, timestamp: header('webhook-timestamp'), signature: header('webhook-signature') };
  // Bytes that are no text would be signed as something else than they are.
  const text = attempt(() => utf8.decode(bytes))?.value;
  if (text === undefined) return { refused: problem('not_json') };
  const fault = verify(signed, text);
  if (fault !== undefined) return { refused: problem('signature_invalid', { detail: fault }) };
  // Else a signed call could be sent again under a key of the sender's choice, and would take effect again.
  if (id !== key) return { refused: problem('key_not_signed') };
  const args = attempt(() => JSON.parse(text) as unknown);
  if (args === undefined) return { refused: problem('not_json') };
  const call: UndoCall = {
    key,
    effectKey,
    sessionId: header('undolog-session-id'),
    effectId: header('undolog-effect-id'),
    effectOutcome: header('undolog-effect-outcome') === 'committed' ? 'committed' : 'unknown',
    attempt: Number(header('undolog-attempt')) || 1,
    traceparent: request.header('traceparent'),
    args: args.value,
    text,
    takenOver: false,
  };
  return { call, bodySha256: await sha256(bytes) };
}
