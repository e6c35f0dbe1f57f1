import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Where a compensation may be sent. UndoLog calls addresses that tenants name, from inside somebody's network, so
 * every address that is not public is refused unless the operator's allow-list names it. Names are judged by each
 * address that they resolve to: at registration as a courtesy, and at connect for certain.
 */
export interface EgressPolicy {
  readonly allowed: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];
  readonly resolve: ResolveName;
}

/** Every address of a name. Rejects with the resolver's code when it finds none. */
export type ResolveName = (name: string) => Promise<string[]>;

const asTheSystemDoes: ResolveName = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

export class EgressPolicyError extends Error {
  override readonly name = 'EgressPolicyError';
}

/**
 * @param text CIDRs or single addresses, separated by commas or spaces; empty means none.
 * @throws {EgressPolicyError} naming the part that is neither.
 */
export function parseEgressPolicy(text: string, resolve = asTheSystemDoes): EgressPolicy {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  return { allowed: parts.map(parseRange), resolve };
}

function parseRange(part: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  try {
    return unmapped(readRange(part));
  } catch {
    throw new EgressPolicyError(`UNDOLOG_EGRESS_ALLOW: ${part} is no address range`);
  }
}

function readRange(part: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [bare = ''] = part.split('/', 1);
  // ipaddr.js would read 010.0.0.0/8 as 8.0.0.0/8 and open a part of the internet that nobody named.
  if (isIP(bare) === 0 || bare.includes('%')) throw new Error('not the usual notation');
  if (part.includes('/')) return ipaddr.parseCIDR(part);
  const address = ipaddr.parse(part);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** Whether the text is an address, or a CIDR. */
export function isAddressRange(text: string): boolean {
  try {
    readRange(text);
    return true;
  } catch {
    return false;
  }
}

const MAPPED_BITS = 96;

/** A range of `::ffff:a.b.c.d` means IPv4, as such an address does. */
function unmapped([address, bits]: [ipaddr.IPv4 | ipaddr.IPv6, number]): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= MAPPED_BITS;
  return isMapped ? [address.toIPv4Address(), bits - MAPPED_BITS] : [address, bits];
}

const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');
const SIX_TO_FOUR = ipaddr.parseCIDR('2002::/16');
const COMPATIBLE = ipaddr.parseCIDR('::/96');
/** Where Azure answers the machines of every tenant: a metadata service on an address that looks public. */
const AZURE_WIRE_SERVER = '168.63.129.16';
/** All of IPv6 that is assigned for the internet; ipaddr.js calls what is not assigned yet unicast as well. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** The IPv4 address that an IPv6 address leads to, where it is one of the forms that carry one. */
function carriedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const bytes = address.toByteArray();
  if (address.match(SIX_TO_FOUR)) return new ipaddr.IPv4(bytes.slice(2, 6));
  const embeds = address.match(NAT64) || (address.match(COMPATIBLE) && address.range() === 'unicast');
  return embeds ? new ipaddr.IPv4(bytes.slice(12)) : undefined;
}

function named(policy: EgressPolicy, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return policy.allowed.some((range) => range[0].kind() === address.kind() && address.match(range as never));
}

/** Whether a connection to this IP address, as text, may be made. Text that is no address is refused. */
export function isAddressAllowed(policy: EgressPolicy, text: string): boolean {
  const [bare] = text.split('%', 1);
  if (bare === undefined || !ipaddr.isValid(bare)) return false;
  // A mapped address is an IPv4 connection: `::/0` in the allow-list does not open it.
  const address = ipaddr.process(bare);
  if (named(policy, address)) return true;
  if (address instanceof ipaddr.IPv4) return isPublicIpv4(address);
  const carried = carriedIpv4(address);
  if (carried) return named(policy, carried) || isPublicIpv4(carried);
  return address.range() === 'unicast' && address.match(GLOBAL_IPV6);
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && address.toString() !== AZURE_WIRE_SERVER;
}

/** The host of a URL without the brackets of IPv6. The URL parser has already read decimal, hex and octal forms. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** Why an address may not be registered, or undefined when it may; names are not resolved. */
export function checkUrl(policy: EgressPolicy, text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be http or https';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  const host = hostOf(url);
  // Judged where the URL parser found the host: `http:/{args.host}/` has one too.
  if (/[{}]/.test(host)) return 'must not hold a template in its host';
  if (ipaddr.isValid(host) && !isAddressAllowed(policy, host)) return 'names an address that is not allowed';
  return undefined;
}

const RESOLVE_TIMEOUT_MS = 1000;

async function addressesOf({ resolve }: EgressPolicy, host: string): Promise<string[]> {
  if (ipaddr.isValid(host)) return [];
  const late = new Promise<never[]>((tellNone) => setTimeout(tellNone, RESOLVE_TIMEOUT_MS, []).unref());
  return Promise.race([resolve(host).catch(() => []), late]);
}

/** Like `checkUrl`, and refuses a name of which any address is refused now. One that does not resolve is accepted. */
export async function checkUrlResolved(policy: EgressPolicy, text: string): Promise<string | undefined> {
  const fault = checkUrl(policy, text);
  if (fault !== undefined) return fault;
  const addresses = await addressesOf(policy, hostOf(new URL(text)));
  const allowed = addresses.every((address) => isAddressAllowed(policy, address));
  return allowed ? undefined : 'resolves to an address that is not allowed';
}
