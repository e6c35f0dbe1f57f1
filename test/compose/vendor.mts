/**
 * A vendor of flights, hotels and cars in a container of its own, with one ledger for all three, so that its lines show
 * the order of cancellations across them. It imports nothing but Node, as it is mounted into a container as one file.
 *
 * `POST /{kind}/book {trip}` and `POST /{kind}/cancel {trip, booking_id}` take one effect per Idempotency-Key; no car is
 * ever left. `PUT /hold {trip}` makes the next cancellation of that trip take effect without an answer, for as long as
 * its caller waits. `GET /ledger` shows every request, `GET /standing` the bookings that nobody cancelled.
 */
import { createServer, type IncomingMessage } from 'node:http';

export interface LedgerLine {
  readonly kind: string;
  readonly action: string;
  readonly trip: string;
  readonly key: string;
  /** A repeat changed nothing; its key was known. */
  readonly outcome: 'applied' | 'held' | 'refused' | 'repeat';
  /** The address of the container that called. */
  readonly from: string;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const ledger: LedgerLine[] = [];
const standing = new Map<string, string>();
const answers = new Map<string, Answer>();
let heldTrip: string | undefined;

async function readJson(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, string>;
}

function apply(kind: string, action: string, body: Record<string, string>): Answer {
  if (kind === 'car') return { status: 409, body: { code: 'no_car_left' } };
  const bookingId = action === 'book' ? `${kind}-${standing.size}-${ledger.length}` : (body['booking_id'] ?? '');
  if (action === 'book') standing.set(bookingId, body['trip'] ?? '');
  else if (!standing.delete(bookingId)) return { status: 404, body: { code: 'no_such_booking' } };
  return { status: 200, body: { booking_id: bookingId } };
}

/** @returns undefined when the caller shall not hear of it. */
function receive(
  kind: string,
  action: string,
  body: Record<string, string>,
  request: IncomingMessage,
): Answer | undefined {
  const key = String(request.headers['idempotency-key']);
  const trip = body['trip'] ?? '';
  const known = answers.get(key);
  const answer = known ?? apply(kind, action, body);
  answers.set(key, answer);
  const held = action === 'cancel' && heldTrip === trip;
  if (held) heldTrip = undefined;
  const outcome = known ? 'repeat' : held ? 'held' : answer.status === 200 ? 'applied' : 'refused';
  ledger.push({ kind, action, trip, key, outcome, from: String(request.socket.remoteAddress) });
  return held ? undefined : answer;
}

async function route(request: IncomingMessage): Promise<Answer | undefined> {
  const [, first = '', action = ''] = (request.url ?? '').split('/');
  if (first === 'ledger') return { status: 200, body: ledger };
  if (first === 'standing') return { status: 200, body: [...standing.values()] };
  const body = await readJson(request);
  if (first !== 'hold') return receive(first, action, body, request);
  heldTrip = body['trip'];
  return { status: 200, body: {} };
}

const server = createServer((request, response) => {
  route(request).then(
    (answer) =>
      answer &&
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body)),
    () => response.writeHead(400).end(),
  );
});
server.listen(8080);
process.once('SIGTERM', () => process.exit(0));
