import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { IdempotencyKeys, type VendorAnswer } from './idempotency-keys.js';
import type { LedgerAction } from './ledger.js';
import type { BookingDetails } from './tariffs.js';
import type { Receipt, VendorBooks } from './vendor-books.js';

/** How long a vendor works on a request; long enough that a repeat can meet the first one in flight. */
const PROCESSING_MS = 4;
const MAX_BODY_BYTES = 64 * 1024;

interface BookingRequest extends BookingDetails {
  readonly trip: string;
  readonly booking_id?: string;
}

/** The switch on the cancel endpoint: up, or up for so many more cancellations and down after that. */
class CancelEndpoint {
  #cancellationsLeft = Number.POSITIVE_INFINITY;

  set(up: boolean, afterCancellations = 0): void {
    this.#cancellationsLeft = up ? Number.POSITIVE_INFINITY : afterCancellations;
  }

  /** Whether this cancellation finds the endpoint up; counts it. */
  admit(): boolean {
    if (this.#cancellationsLeft <= 0) return false;
    this.#cancellationsLeft -= 1;
    return true;
  }
}

/**
 * A vendor's HTTP interface over its books; it doesn't listen yet.
 *
 * `POST /book` and `POST /cancel` honour `Idempotency-Key`, `GET /bookings/{id}` and `GET /ledger` show the record, and
 * `POST /control/cancel-endpoint {up, after_cancellations?}` takes the cancel endpoint down (503) and up again.
 */
export function createVendor(books: VendorBooks): Server {
  const keys = new IdempotencyKeys();
  const cancelEndpoint = new CancelEndpoint();

  async function change(action: LedgerAction, receipt: Receipt, text: string): Promise<VendorAnswer> {
    const request = JSON.parse(text) as BookingRequest;
    const bookingId = request.booking_id ?? null;
    const answerOnly = (
      status: number,
      outcome: 'unavailable' | 'in_flight' | 'refused',
      code: string,
    ): VendorAnswer => {
      books.note(receipt, action, outcome, status, request.trip, bookingId);
      return { status, body: { code } };
    };

    const key = receipt.idempotencyKey;
    if (key === null) return answerOnly(400, 'refused', 'idempotency_key_required');
    if (action === 'cancel' && !cancelEndpoint.admit()) return answerOnly(503, 'unavailable', 'cancellations_down');
    const known = keys.take(key, `${action} ${text}`);
    switch (known.state) {
      case 'other_request':
        return answerOnly(422, 'refused', 'key_reused');
      case 'in_flight':
        return answerOnly(409, 'in_flight', 'request_in_flight');
      case 'complete':
        books.note(receipt, action, 'repeated', known.answer.status, request.trip, bookingId);
        return known.answer;
      case 'absent':
        break;
    }
    await sleep(PROCESSING_MS);
    const answer =
      action === 'book'
        ? books.book(receipt, request.trip, request)
        : books.cancel(receipt, request.trip, request.booking_id ?? '');
    keys.complete(key, answer);
    return answer;
  }

  async function route(request: IncomingMessage, receivedUs: number): Promise<VendorAnswer> {
    const path = request.url ?? '/';
    if (request.method === 'GET') {
      if (path === '/ledger') return { status: 200, body: { kind: books.kind, lines: books.lines } };
      const booking = path.startsWith('/bookings/')
        ? books.find(decodeURIComponent(path.slice('/bookings/'.length)))
        : undefined;
      return booking === undefined
        ? { status: 404, body: { code: 'not_found' } }
        : { status: 200, body: { ...booking } };
    }
    const text = await readBody(request);
    const key = request.headers['idempotency-key'];
    const receipt = { receivedUs, idempotencyKey: typeof key === 'string' ? key : null };
    if (path === '/book') return change('book', receipt, text);
    if (path === '/cancel') return change('cancel', receipt, text);
    if (path === '/control/cancel-endpoint') {
      const wish = JSON.parse(text) as { up: boolean; after_cancellations?: number };
      cancelEndpoint.set(wish.up, wish.after_cancellations);
      return { status: 200, body: { ...wish } };
    }
    return { status: 404, body: { code: 'not_found' } };
  }

  return createServer((request, response) => {
    const receivedUs = Number(process.hrtime.bigint() / 1000n);
    route(request, receivedUs).then(
      (answer) => send(response, answer),
      (error: unknown) => send(response, { status: 400, body: { code: 'bad_request', detail: String(error) } }),
    );
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`a body of more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, answer: VendorAnswer): void {
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer.body));
}
