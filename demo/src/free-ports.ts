import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Free ports of 127.0.0.1, all different: every one is held until the last is found. */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
