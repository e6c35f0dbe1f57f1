import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A vendor of three kinds of booking; it keeps what it was asked, once per key, and has no cars. */
export class DemoVendor {
  readonly bookings = new Map<string, 'booked' | 'cancelled'>();
  readonly #server: Server = createServer((request, response) => {
    const [, kind = '', action = ''] = (request.url ?? '').split('/');
    request.resume().on('end', () => {
      if (action === 'cancel') this.bookings.set(kind, 'cancelled');
      else if (kind === 'car') return void response.writeHead(409).end('{"error":"sold out"}');
      else this.bookings.set(kind, 'booked');
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ booking_id: kind }));
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
