import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/test-service.js';
import { expectNowhere, type WrappedKey, wrappedKeys } from './files.js';
import { aCard, anHour } from './support.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const operation = fc.record({
  what: fc.constantFrom(
    'create',
    'create',
    'data',
    'data',
    'cvc',
    'metadata',
    'purge',
    'delete',
    'read',
    'wait',
    'sweep',
  ),
  token: fc.nat(30),
  number: fc.constantFrom('4242424242424242', '5555555555554444', '378282246310005'),
  cvc: fc.constantFrom('111', '222', '3333', null),
  lives: fc.constantFrom(null, null, 1, 30, 90),
  size: fc.nat(3_000),
});
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

/** Runs an operation. There are only a few ids, so tokens are often deleted or expire, and their ids are reused. */
async function run({ what, token, number, cvc, lives, size }: Operation): Promise<void> {
  const id = `token-${token}`;
  const { call, clock } = service;
  if (what === 'wait') return clock.advance((size * anHour) / 3_000);
  if (what === 'sweep') return void (await service.service.sweep.run());
  const data = { number, expiration_month: 12, expiration_year: 2031, ...(cvc === null ? {} : { cvc }) };
  const expires_at = lives === null ? null : new Date(clock.now() + lives * 60_000).toISOString();
  const metadata = { filler: 'x'.repeat(Math.min(size, 1_000)) };
  const answers = {
    create: () => call('POST', '/tokens', aCard(null, { id, data, expires_at, metadata })),
    data: () => call('PATCH', `/tokens/${id}`, { data }),
    cvc: () => call('PATCH', `/tokens/${id}`, { data: { cvc } }),
    metadata: () => call('PATCH', `/tokens/${id}`, { metadata, expires_at }),
    purge: () => call('DELETE', `/tokens/${id}/cvc`),
    delete: () => call('DELETE', `/tokens/${id}`),
    read: () => call('GET', `/tokens/${id}`),
  };
  const { status, text } = await answers[what]();
  expect(status, `${what}: ${text}`).toBeLessThan(500);
}

test('after any sequence of operations, no file contains a destroyed key', async () => {
  const seen = new Map<string, WrappedKey>();
  const look = (): void => {
    for (const [id, key] of wrappedKeys(service.dataDir)) if (!key.destroyed) seen.set(id, key);
  };
  const destroyedNow = (): WrappedKey[] =>
    [...wrappedKeys(service.dataDir).values()]
      .filter(({ destroyed }) => destroyed)
      .flatMap(({ id }) => seen.get(id) ?? []);

  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 40, maxLength: 60, size: 'max' }), async (operations) => {
      const [alone, together] = [operations.slice(0, 30), operations.slice(30)];
      for (const one of alone) {
        await run(one);
        look();
      }
      await Promise.all(together.map(run));
      look();
      expectNowhere(service.dataDir, destroyedNow());
    }),
    { numRuns: 8, endOnFailure: true },
  );
  expect(destroyedNow().length).toBeGreaterThan(40);
  await service.stop();
  expectNowhere(service.dataDir, destroyedNow());
  service = await startTestService({ dataDir: service.dataDir, rootKey: service.rootKey });
});
