import { describe, expect, test } from 'vitest';
import {
  checkUrl,
  checkUrlResolved,
  EgressPolicyError,
  isAddressAllowed,
  parseEgressPolicy,
  type EgressPolicy,
} from '@undolog/shared/runtime/egress-policy';

const nobody = parseEgressPolicy('');

/** For whom every name resolves to these addresses. */
function resolving(addresses: readonly string[], allowed = ''): EgressPolicy {
  return parseEgressPolicy(allowed, async () => [...addresses]);
}

describe('an address', () => {
  test.each(
    `0.0.0.0 0.1.2.3 10.0.0.5 100.64.0.1 100.127.255.255 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1 172.31.255.255
     100.100.100.200 168.63.129.16 192.0.0.192 192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1
     255.255.255.255
     :: ::1 ::7f00:1 ::10.0.0.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:0:127.0.0.1
     ::ffff:168.63.129.16 2002:a83f:8110::
     64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::a00:1 100::1 2001::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1
     2002:7f00:1:: 2002:a00:1:: 3fff::1 400::1 1000::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0
     fec0::1 ff02::1`.split(/\s+/),
  )('C108: %s is not on the internet and is refused', (address) => {
    expect(isAddressAllowed(nobody, address)).toBe(false);
  });

  test.each(
    `8.8.8.8 168.63.129.17 100.63.255.255 172.15.0.1 172.32.0.1 192.167.1.1 223.255.255.255 2606:4700::1111 2a00:1450::1
     ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::`.split(/\s+/),
  )('%s is on the internet and is allowed', (address) => {
    expect(isAddressAllowed(nobody, address)).toBe(true);
  });

  test.each(['', ' ', 'localhost', '1.2.3.4.5', '8.8.8.8/32', '%eth0', '256.1.1.1', ':::', '8.8.8.8 10.0.0.1'])(
    '%j is none and is refused',
    (text) => expect(isAddressAllowed(nobody, text)).toBe(false),
  );
});

describe('the allow-list', () => {
  test('lets through what it names, in every form that stands for it, and nothing beside', () => {
    const policy = parseEgressPolicy('10.1.0.0/16, fd00::/8\n127.0.0.1  ::1');
    for (const address of ['10.1.255.255', '::ffff:10.1.0.9', '64:ff9b::a01:9', 'fd12::1', '127.0.0.1', '::1']) {
      expect(isAddressAllowed(policy, address), address).toBe(true);
    }
    for (const address of ['10.2.0.0', '::ffff:10.2.0.9', 'fc00::1', '127.0.0.2', '::2', '169.254.169.254']) {
      expect(isAddressAllowed(policy, address), address).toBe(false);
    }
  });

  test('of IPv6 opens no IPv4 address that is mapped into it, and a mapped range is one of IPv4', () => {
    expect(isAddressAllowed(parseEgressPolicy('::/0'), '::ffff:10.0.0.1')).toBe(false);
    expect(isAddressAllowed(parseEgressPolicy('::/0'), 'fd12::1')).toBe(true);
    const mapped = parseEgressPolicy('::ffff:10.0.0.0/104');
    expect(isAddressAllowed(mapped, '10.9.9.9')).toBe(true);
    expect(isAddressAllowed(mapped, '::ffff:10.9.9.9')).toBe(true);
    expect(isAddressAllowed(mapped, '127.0.0.1')).toBe(false);
  });

  test.each([
    '10',
    '127.1',
    '0x7f000001',
    '010.0.0.0/8',
    '10.0.0.0/33',
    '::/129',
    'a.example',
    '10.0.0.0/8/8',
    'fe80::1%eth0',
    '/8',
  ])('refuses %s instead of guessing what it means', (text) => {
    expect(() => parseEgressPolicy(`192.168.0.0/16,${text}`)).toThrow(EgressPolicyError);
    expect(() => parseEgressPolicy(text)).toThrow(text);
  });

  test('that is empty names nothing', () => {
    for (const text of ['', '  ', ',', '\n']) expect(parseEgressPolicy(text).allowed).toEqual([]);
  });
});

describe('a URL at registration', () => {
  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://0/',
    'http:127.0.0.1/',
    'http:/127.0.0.1/',
    'http:\\\\127.0.0.1\\',
    'http://１２７。0.0.1/',
    'http://127.0.0.1:6379/',
    'https://10.0.0.1/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1%25eth0]/',
    'http://[fd00:ec2::254]/',
    'http://user:pass@vendor.example/',
    'http://user@vendor.example/',
    'http://:pass@vendor.example/',
    'file:///etc/passwd',
    'ftp://vendor.example/',
    'javascript:alert(1)',
    '//vendor.example/',
    '/relative',
    'vendor.example',
    '',
  ])('C108: %s is refused', (url) => {
    expect(checkUrl(nobody, url)).toMatch(/^(is not|must|names) /);
  });

  test.each([
    'https://vendor.example/cancel',
    'HTTP://vendor.example:8443/a?b=c#d',
    'http://8.8.8.8/',
    'http://[2606:4700::1111]/',
    'https://bücher.example/',
    'https://vendor.example/bookings/{args.booking_id}?key={effect.idempotency_key}',
  ])('%s is accepted', (url) => {
    expect(checkUrl(nobody, url)).toBeUndefined();
  });

  test.each([
    '{args.scheme}://vendor.example/',
    'http://{args.host}/',
    'http:/{args.host}/',
    'http:///{args.host}/',
    'http:{args.host}/',
    'http:\\{args.host}/',
    'ht\ttp://{args.host}/',
    'http://%7Bargs.host%7D/',
    'http://api.{args.host}/',
    'http://vendor.example:{args.port}/',
    'http://vendor.example{args.rest}',
    'http://{args.user}@vendor.example/',
  ])('C108: %j, a template that decides who is called, is refused', (url) => {
    expect(checkUrl(nobody, url)).toBeDefined();
  });

  test('is accepted where the allow-list names its address', () => {
    const policy = parseEgressPolicy('127.0.0.0/8');
    expect(checkUrl(policy, 'http://0x7f000001:8080/')).toBeUndefined();
    expect(checkUrl(policy, 'http://[::ffff:127.0.0.1]/')).toBeUndefined();
    expect(checkUrl(policy, 'http://[::1]/')).toBeDefined();
  });

  test('never quotes the URL in its reason', () => {
    const reasons = ['http://u:hunter2@h/', 'hunter2', 'ftp://hunter2/'].map((url) => checkUrl(nobody, url));
    expect(reasons.join()).not.toContain('hunter2');
    expect(reasons).not.toContain(undefined);
  });
});

describe('a name at registration', () => {
  test('C108: is refused when any of its addresses is refused', async () => {
    const fault = 'resolves to an address that is not allowed';
    expect(await checkUrlResolved(resolving(['8.8.8.8', '10.0.0.5']), 'http://vendor.example/')).toBe(fault);
    expect(await checkUrlResolved(resolving(['2606:4700::1111', '::ffff:127.0.0.1']), 'http://a.example/')).toBe(fault);
    const loopback = ['127.0.0.1', '::1'];
    expect(await checkUrlResolved(resolving(loopback), 'http://localhost/')).toBe(fault);
    expect(await checkUrlResolved(nobody, 'http://localhost/'), 'as the system resolves it').toBe(fault);
    expect(await checkUrlResolved(resolving(loopback, '127.0.0.1'), 'http://localhost/')).toBe(fault);
  });

  test('is accepted when all its addresses are allowed', async () => {
    const open = resolving(['8.8.8.8', '2606:4700::1111']);
    expect(await checkUrlResolved(open, 'http://vendor.example/')).toBeUndefined();
    const local = resolving(['127.0.0.1', '::1'], '127.0.0.1,::1');
    expect(await checkUrlResolved(local, 'http://localhost/')).toBeUndefined();
  });

  test('C73: is accepted when it does not resolve, or not in time', async () => {
    const unknown = parseEgressPolicy('', () => Promise.reject(new Error('ENOTFOUND')));
    expect(await checkUrlResolved(unknown, 'http://vendor.invalid/')).toBeUndefined();
    const slow = parseEgressPolicy('', () => new Promise(() => {}));
    const startedMs = performance.now();
    expect(await checkUrlResolved(slow, 'http://slow.example/')).toBeUndefined();
    expect(performance.now() - startedMs).toBeLessThan(3000);
  });

  test('is not even resolved when the URL is refused as it stands', async () => {
    const asked: string[] = [];
    const policy = parseEgressPolicy('', async (name) => {
      asked.push(name);
      return ['8.8.8.8'];
    });
    expect(await checkUrlResolved(policy, 'http://user@vendor.example/')).toBeDefined();
    expect(await checkUrlResolved(policy, 'http://[::1]/')).toBeDefined();
    expect(asked).toEqual([]);
  });
});
