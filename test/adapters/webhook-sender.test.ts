import { createSocket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { isPublicAddress } from '#src/adapters/webhook-target/public-address.js';
import { dnsLookup, type WebhookSenderOptions, webhookSender } from '#src/adapters/webhook-target/webhook-sender.js';

describe('an address', () => {
  test.each([
    [null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
    ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
    ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
    ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
    ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
    ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
    ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
    ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
    ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
    ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
    ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
    ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
    ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
    ['223.255.255.255', '224.0.0.0', '255.255.255.255', null],
    [null, '::', '1fff:ffff::', '2000:ffff::'],
    ['2000:ffff::', '2001::', '2001:1ff:ffff::', '2001:200::'],
    ['2001:db7:ffff::', '2001:db8::', '2001:db8:ffff::', '2001:db9::'],
    ['2001:ffff:ffff::', '2002::', '2002:ffff::', '2003::'],
    ['3ffe:ffff::', '3fff::', '3fff:fff:ffff::', '3fff:1000::'],
    ['3fff:1000::', '4000::', 'ffff::', null],
  ] as const)('after %s, the addresses from %s to %s are not public', (before, first, last, after) => {
    expect([first, last].map(isPublicAddress)).toEqual([false, false]);
    for (const neighbour of [before, after]) if (neighbour !== null) expect(isPublicAddress(neighbour)).toBe(true);
  });

  test.each([
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'ff02::1',
    '2002:7f00:1::',
    'localhost',
    '',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(['1.1.1.1', '8.8.8.8', '2606:4700::1111', '2a00:1450::1'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('a target', () => {
  test('is never contacted if its name resolves to a private address, even if the name also resolves to public ones', async () => {
    let connections = 0;
    const server = createServer((_, response) => response.end());
    server.on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      for (const addresses of [['127.0.0.1'], ['1.1.1.1', '127.0.0.1'], ['::1']]) {
        const asked: string[] = [];
        const sender = webhookSender({ allowsPrivate: false, limitMs: 2_000, resolve: resolvingTo(addresses, asked) });
        const outcome = await sender.post(new URL(`https://rebound.example:${port}/`), {}, '{}');
        expect(outcome).toEqual({
          kind: 'failed',
          problem: 'the name cannot be resolved, or has an address that is not on the public internet',
        });
        expect(asked).toEqual(['rebound.example']);
        sender.close();
      }
      expect(connections).toBe(0);
      // With the setting `allowsPrivate`, a connection to the same name succeeds. This proves that the address check
      // prevented the connection above.
      const lenient = webhookSender({ allowsPrivate: true, resolve: resolvingTo(['127.0.0.1'], []) });
      expect(await lenient.post(new URL(`http://rebound.example:${port}/`), {}, '{}')).toEqual({
        kind: 'responded',
        status: 200,
      });
      lenient.close();
      expect(connections).toBe(1);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

test('idle connections are limited for all receivers together, even if each has a different name', async () => {
  const server = createServer({ keepAliveTimeout: 60_000 }, (_, response) => response.writeHead(204).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sender = webhookSender({ allowsPrivate: true, resolve: resolvingTo(['127.0.0.1'], []) });
  onTestFinished(() => {
    sender.close();
    server.close();
  });
  for (let i = 0; i < 100; i += 1) {
    expect(await sender.post(new URL(`http://host-${i}.example:${port}/`), {}, '{}')).toMatchObject({ status: 204 });
  }
  const open = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  await vi.waitFor(async () => expect(await open()).toBe(64), 10_000);
});

test('names whose name servers do not respond do not delay the lookup of other names', async () => {
  const addressesOf = await lookupAtNameServer();
  const order: string[] = [];
  const slow = Array.from({ length: 20 }, async (_, i) => {
    expect(await addressesOf(`host-${i}.slow.example`)).toEqual([]);
    order.push('slow');
  });
  expect(await addressesOf('shop.example')).toEqual(['192.0.2.1', '2001:db8::1']);
  order.push('fast');
  await Promise.all(slow);
  expect(order[0]).toBe('fast');
});

test('quick responses for some names do not shorten the time limit for others', async () => {
  const addressesOf = await lookupAtNameServer();
  for (let i = 0; i < 20; i++) expect(await addressesOf(`shop-${i}.example`)).toHaveLength(2);
  expect(await addressesOf('shop.late.example')).toHaveLength(2);
});

/** Returns a lookup that asks `nameServer`. It returns no addresses if the lookup fails. */
async function lookupAtNameServer(): Promise<(name: string) => Promise<readonly string[]>> {
  const lookup = dnsLookup([await nameServer()]);
  return (name) =>
    new Promise((resolve) =>
      lookup(name, { all: true }, (_error, found) => resolve(found.map(({ address }) => address))),
    );
}

/**
 * Starts a name server. It does not respond to queries for names below `slow.example`, and takes 1.2 s for those below
 * `late.example`. Returns its address.
 */
async function nameServer(): Promise<string> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  socket.on('message', async (query, { port, address }) => {
    if (query.includes('slow')) return;
    if (query.includes('late')) await sleep(1_200);
    // The question ends with the type and the class, two bytes each. The only other record is the one for EDNS.
    const end = query.indexOf(0, 12) + 5;
    const isIpv6 = query.readUInt16BE(end - 4) === 28;
    const data = isIpv6 ? Buffer.from('20010db8000000000000000000000001', 'hex') : Buffer.of(192, 0, 2, 1);
    const head = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    const answer = Buffer.from([0xc0, 12, 0, isIpv6 ? 28 : 1, 0, 1, 0, 0, 0, 1, 0, data.length]);
    socket.send(Buffer.concat([head, query.subarray(12, end), answer, data]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return `127.0.0.1:${socket.address().port}`;
}

describe('the message about a name', () => {
  test.each(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'])(
    'is the same for %s as for a private address, so that it does not show which internal names exist',
    async (code) => {
      const outcome = (resolve: Resolve) => {
        const sender = webhookSender({ allowsPrivate: false, limitMs: 2_000, resolve });
        return sender.post(new URL('https://vault-db.corp.example/'), {}, '{}').finally(() => sender.close());
      };
      const unknown = await outcome(failingWith(code));
      expect(unknown).toMatchObject({ kind: 'failed' });
      expect(unknown).toEqual(await outcome(resolvingTo(['10.0.0.1'], [])));
    },
  );

  test('says that the name cannot be resolved if private addresses are allowed', async () => {
    const lenient = webhookSender({ allowsPrivate: true, resolve: failingWith('ENOTFOUND') });
    const outcome = await lenient.post(new URL('http://unknown.example/'), {}, '{}');
    expect(outcome).toEqual({ kind: 'failed', problem: 'the name cannot be resolved' });
    lenient.close();
  });
});

type Resolve = NonNullable<WebhookSenderOptions['resolve']>;

/** Returns a resolver that fails for every name. */
function failingWith(code: string): Resolve {
  const resolve = (_hostname: string, _options: unknown, callback: (error: Error) => void): void =>
    callback(Object.assign(new Error(code), { code }));
  return resolve as Resolve;
}

/** Returns a resolver that resolves every name to attacker-chosen addresses. */
function resolvingTo(addresses: readonly string[], asked: string[]): Resolve {
  const resolve = (
    hostname: string,
    _options: unknown,
    callback: (error: null, found: readonly LookupAddress[]) => void,
  ): void => {
    asked.push(hostname);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return resolve as Resolve;
}
