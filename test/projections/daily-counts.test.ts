import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { countDays, createDailyCounting } from '#src/projections/daily-counts.js';
import { dailyAccesses, dailyTokens } from '#src/queries/daily-counts.js';
import { aCard } from '../erasure/support.js';
import { createPlain, path } from '../http/routes/support.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';

const dayMs = 86_400_000;
const neverStopped = new AbortController().signal;

async function count({ vault }: TestService): Promise<void> {
  await vault.recorder.now([]);
  await countDays(vault, { restShare: 0, stopped: neverStopped });
}

async function start() {
  const service = await startTestService();
  onTestFinished(service.close);
  const first = service.clock.now();
  const range = () => ({ from: first, to: service.clock.now() });
  const day = (index: number) => new Date(first + index * dayMs).toISOString().slice(0, 10);
  const tokens = (tenantId = service.tenantId) => dailyTokens(service.vault, tenantId, range());
  const accesses = (tenantId = service.tenantId) => dailyAccesses(service.vault, tenantId, range());
  /** The stored changes of a day, such as `{ 'token created': 1 }`. */
  const changes = async (index: number) => {
    const at = Math.floor(first / dayMs) + index;
    const counts = await service.vault.dailyCounts.days(service.tenantId, 'tokens', at, at);
    return Object.fromEntries(counts.map(({ name, what, count: total }) => [`${name} ${what}`, total]));
  };
  return { service, day, tokens, accesses, changes };
}

test('tokens are counted by type, on the days on which they were created, deleted and due', async () => {
  const { service, day, tokens, changes } = await start();
  const expiring = { expires_at: new Date(service.clock.now() + dayMs).toISOString() };
  const { id } = await createPlain(service);
  await createPlain(service);
  await createPlain(service, expiring);
  await service.call('POST', '/tokens', aCard(null));
  await service.call('PATCH', path(id), { metadata: { a: 'b' } });
  await count(service);
  service.clock.advance(2 * dayMs);
  await service.service.sweep.run();
  await service.call('DELETE', path(id));
  await createPlain(service, { id });
  await count(service);

  expect(await tokens()).toEqual([
    { day: day(0), alive: { token: 3, card: 1 } },
    { day: day(1), alive: { token: 2, card: 1 } },
    { day: day(2), alive: { token: 2, card: 1 } },
  ]);
  expect(await changes(0)).toEqual({ 'token created': 3, 'card created': 1 });
  expect(await changes(1)).toEqual({ 'token expired': 1 });
  expect(await changes(2)).toEqual({ 'token created': 1, 'token deleted': 1 });
});

test('a range that begins later starts with the number of tokens from the days before it', async () => {
  const { service, day } = await start();
  await createPlain(service);
  service.clock.advance(3 * dayMs);
  await count(service);
  const now = service.clock.now();
  const result = await dailyTokens(service.vault, service.tenantId, { from: now, to: now });
  expect(result).toEqual([{ day: day(3), alive: { token: 1 } }]);
});

test('accesses are counted by operation, and denied accesses are counted separately', async () => {
  const { service, day, accesses } = await start();
  const { id } = await createPlain(service);
  const masked = await service.application(['token:read']);
  const denied = await service.application(['token:create']);
  await service.call('GET', path(id));
  await service.call('GET', path(id));
  service.clock.advance(dayMs);
  await service.call('GET', path(id), undefined, { key: masked });
  await service.call('GET', path(id), undefined, { key: denied });
  await count(service);
  await count(service);
  expect(await accesses()).toEqual([
    { day: day(0), operations: { create: 1, reveal: 2 }, denied: 0, failed: 0 },
    { day: day(1), operations: { read: 1 }, denied: 1, failed: 0 },
  ]);
});

test('two processes that count at the same time count each event only once', async () => {
  const { service, tokens, accesses } = await start();
  for (let index = 0; index < 5; index += 1) {
    const { id } = await createPlain(service);
    await service.call('GET', path(id));
  }
  await Promise.all([count(service), count(service), count(service)]);
  expect((await tokens())[0]?.alive.token).toBe(5);
  expect((await accesses())[0]?.operations).toEqual({ create: 5, reveal: 5 });
});

test('a rebuild repairs counts that another program changed, and the status shows the rebuild', async () => {
  const { service, tokens, accesses } = await start();
  const { id } = await createPlain(service);
  await service.call('GET', path(id));
  await count(service);
  const [good, reads] = [await tokens(), await accesses()];
  const { dailyCounts } = service.vault;
  const from = (await dailyCounts.positions()).get('log') ?? 0;
  const day = Math.floor(service.clock.now() / dayMs);
  const forged = {
    tenantId: service.tenantId,
    series: 'tokens',
    day,
    name: 'token',
    what: 'created',
    count: 99,
  } as const;
  await dailyCounts.add({ source: 'log', from, to: from, counts: [forged], ended: [] });
  expect(await tokens()).not.toEqual(good);
  expect(await service.service.projections.rebuild('days', false)).toBe('done');
  expect(await tokens()).toEqual(good);
  expect(await accesses()).toEqual(reads);
  await createPlain(service);
  const status = async () => (await service.service.projections.status()).find(({ name }) => name === 'days');
  expect(await status()).toMatchObject({ state: 'behind', gap: 1 });
  await count(service);
  expect(await status()).toMatchObject({ state: 'current', gap: 0 });
});

test('the counts of a deleted tenant are removed, and no later event or record brings them back', async () => {
  const { service, tokens, accesses } = await start();
  const other = await service.otherTenant();
  const expiring = { expires_at: new Date(service.clock.now() + dayMs).toISOString() };
  await createPlain(service, expiring);
  await service.call('POST', '/tokens', { type: 'token', data: 'x' }, { key: other });
  const caller = await service.service.authenticate(other);
  const otherId = caller?.tenantId ?? '';
  await count(service);
  expect((await tokens())[0]?.alive).not.toEqual({});
  const deleted = await service.call('DELETE', '/tenants/self', { name: 'test' }, { key: service.managementKey });
  expect(deleted.status, deleted.text).toBe(204);
  service.clock.advance(2 * dayMs);
  await service.service.sweep.run();
  await count(service);
  for (const { alive } of await tokens()) expect(alive).toEqual({});
  for (const { operations } of await accesses()) expect(operations).toEqual({});
  expect((await tokens(otherId))[0]?.alive.token).toBe(1);
  expect((await accesses(otherId))[0]?.operations).toEqual({ create: 1 });
});

test('no event or record between a tenant’s deletion and the end of its keys brings its counts back', async () => {
  const { service, tokens, accesses } = await start();
  const expiring = { expires_at: new Date(service.clock.now() + dayMs).toISOString() };
  await createPlain(service, expiring);
  const { vault, tenantId } = service;
  const living = await vault.keys.tenantKeys(tenantId);
  const deleted = await service.call('DELETE', '/tenants/self', { name: 'test' }, { key: service.managementKey });
  expect(deleted.status, deleted.text).toBe(204);
  const keys = { ...vault.keys, tenantKeys: async () => living };
  const beforeKeysEnd = { ...service, vault: { ...vault, keys } };
  await count(beforeKeysEnd);
  service.clock.advance(2 * dayMs);
  await service.service.sweep.run();
  await count(beforeKeysEnd);
  for (const { alive } of await tokens()) expect(alive).toEqual({});
  for (const { operations } of await accesses()) expect(operations).toEqual({});
});

test('the background work counts what happens while it runs, and stops immediately', async () => {
  const { service, tokens, accesses } = await start();
  const { id } = await createPlain(service);
  const counting = createDailyCounting(service.vault, (error) => service.errors.push(error));
  counting.start();
  const alive = async () => (await tokens())[0]?.alive.token;
  await expect.poll(alive).toBe(1);
  await createPlain(service);
  await service.call('GET', path(id));
  await expect.poll(alive).toBe(2);
  await expect.poll(async () => (await accesses())[0]?.operations['reveal'], { timeout: 60_000 }).toBe(1);
  const stopped = counting.stop().then(() => 'stopped');
  expect(await Promise.race([stopped, wait(1_000, 'waits')])).toBe('stopped');
  expect(service.errors).toEqual([]);
});

test('the background work counts the accesses of earlier months even if its first round fails', async () => {
  const { service, accesses } = await start();
  const { id } = await createPlain(service);
  await service.call('GET', path(id));
  await service.vault.recorder.now([]);
  service.clock.advance(40 * dayMs);
  let failures = 0;
  const readClear: TestService['vault']['log']['readClear'] = (...page) => {
    failures += 1;
    if (failures === 1) throw new StoreUnavailable('event log', 'stopped');
    return service.vault.log.readClear(...page);
  };
  const vault = { ...service.vault, log: { ...service.vault.log, readClear } };
  const counting = createDailyCounting(vault, () => undefined);
  counting.start();
  onTestFinished(() => counting.stop());
  await expect.poll(async () => (await accesses())[0]?.operations['reveal'], { timeout: 60_000 }).toBe(1);
});

test('a damaged key of one tenant does not stop the counts of the others, or its own', async (context) => {
  embeddedOnly(context, 'the test changes SQLite files');
  const { service: before } = await start();
  await createPlain(before);
  await before.vault.recorder.now([]);
  const { dataDir, rootKey, clock, tenantId } = before;
  await before.stop();
  const keys = pinStatements(join(dataDir, 'keys.db'), {});
  keys.prepare('UPDATE tenant_keys SET wrapped = zeroblob(60) WHERE tenant = ?').run(tenantId);
  keys.close();
  const service = await startTestService({ dataDir, rootKey, clock });
  onTestFinished(service.close);
  await createPlain(service);
  await count(service);
  for (const id of [service.tenantId, tenantId]) {
    const counted = await dailyTokens(service.vault, id, { from: clock.now(), to: clock.now() });
    expect(counted).toMatchObject([{ alive: { token: 1 } }]);
  }
  expect(service.errors.map(String).join()).toContain(`a key of tenant ${tenantId}`);
});
