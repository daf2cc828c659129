import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { linesOf } from '#src/events/access-log/batch-hash.js';
import { createPlain, path } from '../../http/routes/support.js';
import { behindTriggers } from '../../support/behind-triggers.js';
import { startTestService, type TestService } from '../../support/test-service.js';
import { verifyAccessChain } from '../../support/verify-access-chain.js';

const file = 'access-2026-01.db';

/** Changes that an attacker with write access to the file could make. The triggers in the file do not prevent them. */
const tamperings: Readonly<Record<string, string>> = {
  'a changed entry': 'UPDATE entries SET time = time + 1 WHERE id = (SELECT max(id) - 1 FROM entries)',
  'a changed word': "UPDATE words SET text = 'read' WHERE text = 'reveal'",
  'swapped entries of two batches': 'UPDATE entries SET batch = 5 - batch WHERE batch IN (2, 3)',
  'a removed entry': 'DELETE FROM entries WHERE id = 2',
  'an inserted entry':
    'INSERT INTO entries SELECT 1000, batch, tenant, time, actor, actor_type, key, source, entity_type, ref, entity, operation, outcome, message, trace, trace_index, trace_stream, trace_revision FROM entries WHERE id = 2',
  'a batch removed together with its entries':
    'DELETE FROM entries WHERE batch = 2; DELETE FROM batches WHERE sequence = 2',
  'two swapped batches':
    'UPDATE batches SET sequence = -sequence WHERE sequence IN (2, 3); UPDATE batches SET sequence = 5 + sequence WHERE sequence < 0;' +
    'UPDATE entries SET batch = 5 - batch WHERE batch IN (2, 3)',
  'a changed hash': 'UPDATE batches SET hash = zeroblob(32) WHERE sequence = 2',
  'a changed ciphertext of traces': 'UPDATE traces SET box = zeroblob(length(box)) WHERE id = 1',
  'a changed index in a ciphertext':
    'UPDATE entries SET trace_index = ifnull(trace_index, 0) + 1 WHERE id = (SELECT max(id) - 2 FROM entries)',
  'an index that was removed': 'UPDATE entries SET trace_index = CASE WHEN trace_index IS NULL THEN 0 END WHERE id = 2',
  'a replaced trace id':
    'UPDATE entries SET trace = (SELECT trace FROM entries ORDER BY id DESC LIMIT 1) WHERE id = (SELECT max(id) - 2 FROM entries)',
};

/** Changes to the entries of one list page, which share a line. */
const tamperingsOfPage: Readonly<Record<string, string>> = {
  'a changed reference': "UPDATE entries SET ref = x'aa' WHERE id = (SELECT max(id) - 1 FROM entries)",
  'a removed entry': 'DELETE FROM entries WHERE id = (SELECT max(id) FROM entries)',
  'a repeated entry':
    'INSERT INTO entries SELECT id + 1, batch, tenant, time, actor, actor_type, key, source, entity_type, ref, entity, operation, outcome, message, trace, trace_index, trace_stream, trace_revision FROM entries WHERE id = (SELECT max(id) FROM entries)',
  'two swapped entries':
    'UPDATE entries SET ref = (SELECT ref FROM entries AS other WHERE other.id = 2 * (SELECT max(id) FROM entries) - 1 - entries.id) WHERE id >= (SELECT max(id) - 1 FROM entries)',
  'an entry with another time': 'UPDATE entries SET time = time + 1 WHERE id = (SELECT max(id) FROM entries)',
  'an entry without a trace': 'UPDATE entries SET trace = NULL WHERE id = (SELECT max(id) FROM entries)',
  'an entry with a missing word': 'UPDATE entries SET actor = 1000000 WHERE id = (SELECT max(id) FROM entries)',
};

test.each(Object.entries(tamperings))('%s is detected by recomputing the chain', async (_name, statements) => {
  const service = await startTestService();
  for (let count = 0; count < 3; count += 1) {
    const { id } = await createPlain(service);
    await service.call('GET', path(id));
  }
  await expectDetected(service, statements);
});

test.each(Object.entries(tamperingsOfPage))(
  '%s of a list page is detected by recomputing the chain',
  async (_name, statements) => {
    const service = await startTestService();
    for (let count = 0; count < 3; count += 1) await createPlain(service);
    expect((await service.call('GET', '/tokens')).body['data']).toHaveLength(3);
    await service.vault.recorder.now([]);
    const [chain = ''] = await service.vault.accessLog.chains();
    const last = (await service.vault.accessLog.batches(chain, 0, 1_000)).at(-1);
    expect(linesOf(last?.entries ?? []).at(-1)).toContain('","token",["');
    await expectDetected(service, statements);
  },
);

test.each([
  ['before the first batch', '0'],
  ['with a negative number', '-7'],
  ['after the newest batch', '1000'],
  ['with the largest number', '9223372036854775807'],
])('an entry of a batch that is not in the file, %s, is detected', async (_name, batch) => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const { id } = await createPlain(service);
  await service.call('GET', path(id));
  expect(await verifyAccessChain(service.vault.accessLog)).toMatchObject({ problem: null });
  const database = pinStatements(join(service.dataDir, file), {});
  database.exec(
    `INSERT INTO entries SELECT 1000, ${batch}, tenant, time, actor, actor_type, key, source, entity_type, ref, entity,
     operation, outcome, message, trace, trace_index, trace_stream, trace_revision FROM entries WHERE id = 2`,
  );
  database.close();
  expect(await verifyAccessChain(service.vault.accessLog)).toMatchObject({
    problem: expect.stringContaining('of the access log'),
  });
});

async function expectDetected(service: TestService, statements: string): Promise<void> {
  const before = await verifyAccessChain(service.vault.accessLog);
  expect(before.problem).toBeNull();
  await service.stop();

  const database = pinStatements(join(service.dataDir, file), {});
  behindTriggers(database, () => database.exec(statements));
  database.close();

  const again = await startTestService({ dataDir: service.dataDir, rootKey: service.rootKey });
  const report = await verifyAccessChain(again.vault.accessLog);
  await again.close();
  expect(report).toMatchObject({ problem: expect.stringContaining('of the access log') });
}
