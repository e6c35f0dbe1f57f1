import { isIP, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { isAddressAllowed, type EgressPolicy } from '../runtime/egress-policy.js';

/** The policy refuses where this request would go; nothing was sent. */
export class EgressBlocked extends Error {
  override readonly name = 'EgressBlocked';
}

const CONNECT_TIMEOUT_MS = 10_000;
/** While a name has addresses left: one that swallows connections must not use up the deadline of the call. */
const NEXT_ADDRESS_AFTER_MS = 2000;

/** Every address of the host, all of them allowed: a name that also leads elsewhere is not to be trusted. */
async function allowedAddresses(policy: EgressPolicy, host: string): Promise<string[]> {
  const bare = host.replace(/^\[|\]$/g, '');
  const addresses = isIP(bare) ? [bare] : await policy.resolve(bare);
  if (addresses.every((address) => isAddressAllowed(policy, address))) return addresses;
  throw new EgressBlocked('the address is not allowed');
}

type Connect = (options: buildConnector.Options) => Promise<Socket>;

function promised(connector: buildConnector.connector): Connect {
  return (options) =>
    new Promise((resolve, reject) => {
      connector(options, (error, socket) => (error ? reject(error) : resolve(socket!)));
    });
}

interface Connectors {
  /** For an address after which there are others. */
  readonly impatient: Connect;
  readonly patient: Connect;
}

/** Tries the addresses in turn, as any client would; the last failure is the one that is told. */
async function connectToOne(by: Connectors, options: buildConnector.Options, addresses: string[]): Promise<Socket> {
  let failure: unknown = Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' });
  for (const [index, address] of addresses.entries()) {
    const connect = index < addresses.length - 1 ? by.impatient : by.patient;
    try {
      return await connect({ ...options, hostname: address });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/**
 * Connects to allowed addresses only. The name is resolved here, every address of it is judged, the connection goes to
 * one of those very addresses, and the peer is judged once more when it is there. So a name that changes its address
 * between the check and the connection, or an address literal that no resolver sees, gets nowhere.
 */
export function createEgressConnector(policy: EgressPolicy): buildConnector.connector {
  const connectors: Connectors = {
    impatient: promised(buildConnector({ timeout: NEXT_ADDRESS_AFTER_MS })),
    patient: promised(buildConnector({ timeout: CONNECT_TIMEOUT_MS })),
  };

  async function open(options: buildConnector.Options): Promise<Socket> {
    const addresses = await allowedAddresses(policy, options.hostname);
    // TLS still names `options.host`, not the address.
    const socket = await connectToOne(connectors, options, addresses);
    const peer = socket.remoteAddress;
    if (peer !== undefined && isAddressAllowed(policy, peer)) return socket;
    socket.on('error', () => {}).destroy();
    // A vendor that resets at once leaves no peer to judge; that is no refusal of ours, and may be tried again.
    if (peer === undefined) throw Object.assign(new Error('reset while connecting'), { code: 'ECONNRESET' });
    throw new EgressBlocked('the peer is not allowed');
  }

  return (options, callback) => {
    open(options).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error as Error, null),
    );
  };
}
