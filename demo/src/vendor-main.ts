/**
 * One vendor as its own process. It reads `{kind, soldOutTrips}` as one line from stdin, listens on a free port of
 * 127.0.0.1, prints `{port}` as one line, and ends when its stdin ends, so that no vendor outlives the demo.
 */
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { VendorKind } from './ledger.js';
import { createVendor } from './vendor.js';
import { VendorBooks } from './vendor-books.js';

const input = createInterface({ input: process.stdin });

input.once('line', (line) => {
  const { kind, soldOutTrips } = JSON.parse(line) as { kind: VendorKind; soldOutTrips: string[] };
  const server = createVendor(new VendorBooks(kind, soldOutTrips));
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ port })}\n`);
  });
});

input.once('close', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
// A Ctrl-C reaches the whole process group; the demo decides when its vendors go.
process.on('SIGINT', () => {});
