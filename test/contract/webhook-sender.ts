import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { WebhookSender } from '#src/ports/webhook-sender.js';

type Open = (options: { readonly allowsPrivate: boolean; readonly limitMs?: number }) => WebhookSender;

/** Defines the tests that every adapter for `WebhookSender` must pass. */
export function webhookSenderContract(name: string, open: Open): void {
  describe(`WebhookSender: ${name}`, () => {
    const strict = open({ allowsPrivate: false });
    test.each([
      'http://shop.example/',
      'ftp://shop.example/',
      'https://127.0.0.1/',
      'https://localhost/',
      'https://a.localhost/',
      'https://[::1]/',
      'https://[::ffff:7f00:1]/',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://10.0.0.1:8443/',
      'https://localhost./',
    ])('%s is rejected before the name is looked up', async (address) => {
      expect(strict.problemOf(new URL(address))).toMatch(/must/);
      expect(await strict.post(new URL(address), {}, '{}')).toMatchObject({ kind: 'failed' });
    });

    test.each(['https://shop.example/hook', 'https://1.1.1.1/', 'https://[2606:4700::1111]/'])(
      '%s is accepted',
      (address) => {
        expect(strict.problemOf(new URL(address))).toBeNull();
      },
    );

    test('a request without a response is abandoned when the sender closes, and nothing is sent afterwards', async () => {
      let requests = 0;
      const server = createServer(() => {
        requests += 1;
        sender.close();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const sender = open({ allowsPrivate: true, limitMs: 60_000 });
      const url = new URL(`http://127.0.0.1:${port}/`);
      expect(await sender.post(url, {}, '{}')).toMatchObject({ kind: 'failed' });
      expect(await sender.post(url, {}, '{}')).toEqual({ kind: 'failed', problem: 'the service is stopping' });
      expect(requests).toBe(1);
      server.close();
    });

    test('a redirect counts as a response like any other, and the body of a response is not read', async () => {
      const asked: string[] = [];
      let sent = Promise.resolve();
      const url = await serve((request, response) => {
        asked.push(`${request.method} ${request.url}`);
        response.writeHead(302, { location: '/elsewhere' });
        sent = pipeline(
          Array.from({ length: 800 }, () => Buffer.alloc(64 * 1024)),
          response,
        );
        sent.catch(() => undefined);
      });
      const sender = open({ allowsPrivate: true });
      expect(await sender.post(url, { 'x-sent': 'yes' }, '{}')).toEqual({ kind: 'responded', status: 302 });
      expect(asked).toEqual(['POST /']);
      await expect(sent).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
      sender.close();
    });

    test('at most ten tests of a tenant wait for a response, so their connections cannot use up the descriptors', async () => {
      const waiting: (() => void)[] = [];
      const url = await serve((_request, response) => {
        waiting.push(() => response.writeHead(204).end());
      });
      const sender = open({ allowsPrivate: true });
      onTestFinished(() => sender.close());
      const tests = Array.from({ length: 10 }, () => sender.postTest('one', url, {}, '{}'));
      const refused = await sender.postTest('one', url, {}, '{}');
      expect(refused).toEqual({ kind: 'failed', problem: '10 tests are waiting for a response' });
      tests.push(sender.postTest('other', url, {}, '{}'), sender.post(url, {}, '{}'));
      await expect.poll(() => waiting).toHaveLength(12);
      for (const respond of waiting.splice(0)) respond();
      const accepted = { kind: 'responded', status: 204 };
      expect(await Promise.all(tests)).toEqual(tests.map(() => accepted));
      const next = sender.postTest('one', url, {}, '{}');
      await expect.poll(() => waiting).toHaveLength(1);
      waiting[0]?.();
      expect(await next).toEqual(accepted);
    });

    test('a broken connection is returned as a failure, and does not throw', async () => {
      const url = await serve((request) => request.socket.destroy());
      const sender = open({ allowsPrivate: true });
      expect(await sender.post(url, {}, '{}')).toMatchObject({ kind: 'failed' });
      sender.close();
    });
  });
}

/** Starts a server on this machine that runs until the end of the test. Returns the server's address. */
async function serve(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}
