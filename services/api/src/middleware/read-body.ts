import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { parseJson, type JsonNode } from '@undolog/shared/domain/json-text';
import { MAX_BODY_BYTES } from '@undolog/shared/domain/limits';
import { refuse, type Reply } from '../reply.js';

const inflate = promisify(gunzip);

/** A body that is too large is read on and dropped up to here, so that the sender gets to see the answer. */
const DRAIN_BYTES = 64 * 1024 * 1024;

export type BodyResult = { readonly node: JsonNode } | { readonly refused: Reply };

type Bytes = Buffer | 'too_large' | 'aborted';

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Bytes> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    drain(request, 0);
    return Promise.resolve('too_large');
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        request.removeAllListeners('data');
        drain(request, size);
        resolve('too_large');
      } else chunks.push(chunk);
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
    request.on('close', () => resolve('aborted'));
    request.on('error', () => resolve('aborted'));
  });
}

function drain(request: IncomingMessage, alreadyRead: number): void {
  let size = alreadyRead;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > DRAIN_BYTES) request.destroy();
  });
  request.on('error', () => undefined);
}

const MEDIA_TYPE = /^application\/(?:json|[\w.+-]+\+json) *(?:;|$)/i;
const CHARSET = /; *charset *= *"?([^";\s]+)/i;

function faultOfType(contentType: string | undefined, only: string | undefined): string | undefined {
  const given = contentType?.split(';', 1)[0]!.trim().toLowerCase();
  if (contentType === undefined || !MEDIA_TYPE.test(contentType) || (only !== undefined && given !== only)) {
    return `the body must be ${only ?? 'application/json'}`;
  }
  const charset = CHARSET.exec(contentType)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset) ? undefined : 'the body must be in UTF-8';
}

function invalid(message: string): { refused: Reply } {
  return { refused: refuse('invalid_json', message, { errors: [{ path: '', message }] }) };
}

function parse(bytes: Buffer): BodyResult {
  if (!isUtf8(bytes)) return invalid('the body is not valid UTF-8');
  const parsed = parseJson(bytes.toString('utf8'));
  if (parsed.ok) return { node: parsed.node };
  const errors = [{ path: parsed.path, message: parsed.message }];
  const code = parsed.reason === 'syntax' ? 'invalid_json' : parsed.reason;
  return { refused: refuse(code, parsed.message, { errors }) };
}

async function unzip(bytes: Buffer, maxBytes: number): Promise<Buffer | 'too_large' | 'broken'> {
  try {
    return await inflate(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'broken';
  }
}

/** What stands for a body where none is asked for. */
export const EMPTY_BODY: BodyResult = parse(Buffer.from('{}'));

/**
 * Reads the body once, whole, as JSON text. `bodyOptional`: no body at all counts as `{}`.
 *
 * @returns undefined when the client went away before its body was whole.
 */
export async function readBody(
  request: IncomingMessage,
  expected: { readonly bodyOptional?: boolean; readonly mediaType?: string; readonly maxBytes?: number },
): Promise<BodyResult | undefined> {
  const { bodyOptional = false, maxBytes = MAX_BODY_BYTES } = expected;
  const { 'content-type': contentType, 'content-encoding': encoding = 'identity' } = request.headers;
  const absent = request.headers['transfer-encoding'] === undefined && !Number(request.headers['content-length']);
  if (absent) return bodyOptional ? EMPTY_BODY : invalid('the body is empty');
  const fault = faultOfType(contentType, expected.mediaType);
  if (fault !== undefined) return { refused: refuse('unsupported_media_type', fault) };
  if (!/^(identity|gzip|x-gzip)$/i.test(encoding)) {
    return { refused: refuse('unsupported_media_type', 'the body may be sent plain or with Content-Encoding: gzip') };
  }
  const bytes = await readBytes(request, maxBytes);
  if (bytes === 'aborted') return undefined;
  if (bytes === 'too_large') return { refused: refuse('body_too_large') };
  if (bytes.length === 0) return bodyOptional ? EMPTY_BODY : invalid('the body is empty');
  if (/^identity$/i.test(encoding)) return parse(bytes);
  const plain = await unzip(bytes, maxBytes);
  if (plain === 'too_large') return { refused: refuse('body_too_large') };
  return plain === 'broken' ? invalid('the body is not valid gzip') : parse(plain);
}
