/**
 * The vendor as a process of its own: `vendor-main.ts PORT`. It books and cancels, honours Idempotency-Key, and keeps
 * its own record.
 *
 * ```
 * POST /book/{kind}   {trip} → 200, or 409 for a car        GET  /stats → the record in numbers
 * POST /cancel/{kind} {trip} → 200                          POST /reset → an empty record
 * ```
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { REFUSED_KIND, VendorRecord } from './vendor-record.js';

const record = new VendorRecord();

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function serveTrip(request: IncomingMessage, response: ServerResponse, text: string): void {
  const [, action, kind] = request.url!.split('/') as [string, string | undefined, string | undefined];
  if (kind === undefined || (action !== 'book' && action !== 'cancel')) return send(response, 404, {});
  const { trip } = JSON.parse(text) as { trip: string };
  const key = request.headers['idempotency-key'] as string | undefined;
  const refused = action === 'book' && kind === REFUSED_KIND;
  if (!record.take(key, refused)) return send(response, 200, { repeated: true });
  if (action === 'cancel') {
    record.cancel(trip, kind, performance.now());
    return send(response, 200, { cancelled: true });
  }
  if (record.book(trip, kind, performance.now())) return send(response, 200, { id: `${kind}-${trip}` });
  return send(response, 409, { error: 'inventory unavailable' });
}

const server = createServer((request, response) => {
  if (request.method === 'GET' && request.url === '/stats') return send(response, 200, record.stats());
  if (request.method === 'POST' && request.url === '/reset') {
    record.reset();
    return send(response, 200, {});
  }
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (text += chunk));
  request.on('end', () => serveTrip(request, response, text));
});

server.listen(Number(process.argv[2]), '127.0.0.1');
