import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { expectNowhere, filesOf, isSomewhere, wrappedKeys } from './files.js';
import { aCard, anHour, create, openReader, wrappedKeysOf } from './support.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const data = { number: '5555555555554444' };
const headers = { 'service-idempotency-key': randomUUID() };

/**
 * As long as a reader uses an old state of `keys.db`, the write-ahead log retains that state. During this time, no
 * response may claim that a key is erased.
 */
describe.each([
  { operation: 'DELETE', done: 204, call: (id: string) => service.call('DELETE', `/tokens/${id}`) },
  { operation: 'PATCH', done: 200, call: (id: string) => service.call('PATCH', `/tokens/${id}`, { data }) },
  {
    operation: 'PATCH with an idempotency key',
    done: 200,
    call: (id: string) => service.call('PATCH', `/tokens/${id}`, { data }, { headers }),
  },
  { operation: 'DELETE of the cvc', done: 204, call: (id: string) => service.call('DELETE', `/tokens/${id}/cvc`) },
])('while another connection holds a snapshot of keys.db, $operation', ({ operation, done, call }) => {
  test('returns 503 within three seconds, and a retry succeeds once the snapshot is closed', async () => {
    const id = await create(service, aCard());
    const { content, cvc } = await wrappedKeysOf(service, id);
    const ended = operation.includes('cvc') ? cvc : operation === 'DELETE' ? [...content, ...cvc] : content;
    const reader = openReader(service.dataDir);
    reader.hold();
    for (let tries = operation === 'DELETE' ? 2 : 1; tries > 0; tries -= 1) {
      const startedAt = performance.now();
      // On a busy machine, a timer of two seconds, which is how long the vault waits, is late too.
      const usual = wait(2_000).then(() => performance.now());
      const refused = await call(id);
      const endedAt = performance.now();
      expect([refused.status, refused.body['code']], refused.text).toEqual([503, 'store_unavailable']);
      expect(refused.headers['retry-after']).toBeDefined();
      expect(endedAt - startedAt).toBeGreaterThan(1_500);
      expect(endedAt - (await usual)).toBeLessThan(1_500);
    }
    expect(ended.some((key) => isSomewhere(service.dataDir, key))).toBe(true);
    if (operation === 'DELETE') expect((await service.call('GET', `/tokens/${id}`)).status).toBe(404);
    reader.close();
    const repeated = await call(id);
    expect(repeated.status, repeated.text).toBe(done);
    expectNowhere(service.dataDir, ended);
  });
});

test('many deletes that wait for one reader all succeed when the reader closes', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => create(service, aCard())));
  const files = filesOf(service.dataDir);
  const keys = await Promise.all(ids.map((id) => wrappedKeysOf(service, id, files)));
  const reader = openReader(service.dataDir);
  reader.hold();
  let settled = 0;
  const deletes = ids.map((id) => service.call('DELETE', `/tokens/${id}`).finally(() => (settled += 1)));
  const ended = keys.flatMap(({ content, cvc }) => [...content, ...cvc]);
  // Every delete has destroyed its keys, and now waits until the write-ahead log no longer contains their bytes.
  await vi.waitFor(
    () => {
      const stored = wrappedKeys(service.dataDir);
      const living = ended.filter(({ id }) => stored.get(id)?.destroyed !== true);
      expect(living).toEqual([]);
    },
    { timeout: 30_000, interval: 10 },
  );
  expect(settled).toBe(0);
  reader.close();
  expect((await Promise.all(deletes)).map(({ status }) => status)).toEqual(ids.map(() => 204));
  expectNowhere(service.dataDir, ended);
});

test('an erasure that a reader delayed finishes without another request once the reader is gone', async () => {
  const expires_at = new Date(service.clock.now() + anHour / 2).toISOString();
  const id = await create(service, aCard('123', { expires_at }));
  const { content } = await wrappedKeysOf(service, id);
  const reader = openReader(service.dataDir);
  reader.hold();
  service.clock.advance(anHour / 2);
  await service.service.sweep.run();
  expect(service.errors.splice(0)).toMatchObject([{ name: 'StoreUnavailable' }]);
  reader.close();
  const gone = () => content.every((key) => !isSomewhere(service.dataDir, key));
  await expect.poll(gone, { interval: 100 }).toBe(true);
});

test('if a program reads vault.db for half an hour, the service reports that it keeps erased data, until it ends', async () => {
  const { clock, service: embedded, dataDir } = service;
  await create(service, aCard());
  const reader = pinStatements(join(dataDir, 'vault.db'), { readonly: true });
  reader.exec('BEGIN; SELECT count(*) FROM events;');
  await create(service, aCard());
  // A rebuild empties its old rows at the end, which also empties the write-ahead log.
  const rebuilt = embedded.projections.rebuild('tokens', true);
  rebuilt.catch(() => undefined);
  const notices = async () => (await embedded.state()).notices;
  await expect
    .poll(
      () => {
        clock.advance(29 * 60_000);
        return notices();
      },
      { interval: 100 },
    )
    .toEqual([
      {
        check: 'erasure',
        says: expect.stringMatching(
          /has remained in write-ahead logs for \d+ minutes, because a program is reading vault\.db$/,
        ),
        do: expect.stringContaining(join(dataDir, 'vault.db')),
      },
    ]);
  reader.exec('COMMIT');
  await expect.poll(notices).toEqual([]);
  await rebuilt.catch(() => undefined);
  reader.close();
});

test('if a reader outlives the service and keeps the bytes, no start counts them as erased', async () => {
  const id = await create(service, aCard());
  const { content } = await wrappedKeysOf(service, id);
  const reader = openReader(service.dataDir);
  reader.hold();
  expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(503);
  const { dataDir, rootKey, key } = service;
  await service.stop();
  await expect(startTestService({ dataDir, rootKey })).rejects.toMatchObject({ name: 'StoreUnavailable' });
  reader.close();
  service = await startTestService({ dataDir, rootKey });
  expect((await service.call('DELETE', `/tokens/${id}`, undefined, { key })).status).toBe(404);
  expectNowhere(dataDir, content);
});
