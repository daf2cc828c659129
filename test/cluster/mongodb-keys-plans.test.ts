import { randomBytes, randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { openMongoKeys } from '#src/compose/cluster/open-mongo-keys.js';
import { manualClock } from '../support/manual-clock.js';
import { databaseOfTest } from './own-database.js';
import { profiled } from './profiled.js';

test('every call to the key ring uses an index and reads only what it returns to the caller', async () => {
  const { connection } = await databaseOfTest();
  const clock = manualClock();
  const { keys, logIdOfKeys } = await openMongoKeys(connection, randomBytes(32), clock, async () => 0);
  onTestFinished(() => keys.close());
  const tenants = Array.from({ length: 20 }, () => randomUUID());
  for (const tenantId of tenants) await keys.createTenant(tenantId);
  const tenantId = String(tenants[7]);
  const made = await Promise.all(Array.from({ length: 1_000 }, () => keys.create(tenantId)));
  await keys.destroy(made.slice(0, 700).map(({ id }) => ({ keyId: id, eventId: randomUUID() })));

  const calls = await profiled(connection, async () => {
    await keys.use(String(tenants[3]), String(made[800]?.id), () => 0);
    await keys.use(tenantId, String(made[5]?.id), () => 0);
    await keys.destroy([{ keyId: String(made[900]?.id), eventId: randomUUID() }]);
    const [first] = await keys.made(0, clock.now() + 1, 1);
    await keys.made(first?.sequence ?? 0, clock.now() + 1, 20);
    await keys.create(String(tenants[4]));
    await keys.searchTermKey(String(tenants[4]), 1);
    await keys.checkpoint('orphans');
    await keys.saveCheckpoint('orphans', 4);
    await logIdOfKeys();
    await keys.destroyTenant(String(tenants[5]), randomUUID());
  });
  const reading = calls.filter(({ op }) => op !== 'insert');
  expect(new Set(reading.map(({ collection }) => collection))).toEqual(
    new Set(['data_keys', 'generation_keys', 'meta', 'tenant_keys', 'wraps']),
  );
  for (const call of reading) {
    expect(call.plan, JSON.stringify(call)).toMatch(/^(IDHACK|EXPRESS|IXSCAN)/);
    expect(call.keysExamined, JSON.stringify(call)).toBeLessThanOrEqual(21);
  }
});
