import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { createPlain, path } from '../../http/routes/support.js';
import { behindTriggers } from '../../support/behind-triggers.js';
import { startTestService } from '../../support/test-service.js';
import { verifyAccessChain } from '../../support/verify-access-chain.js';

const file = 'access-2026-01.db';

/** Changes that an attacker with write access to the file could make. The triggers in the file do not prevent them. */
const tamperings: Readonly<Record<string, string>> = {
  'a changed entry': 'UPDATE entries SET time = time + 1 WHERE id = (SELECT max(id) - 1 FROM entries)',
  'a changed word': "UPDATE words SET text = 'read' WHERE text = 'reveal'",
  'swapped entries of two batches': 'UPDATE entries SET batch = 5 - batch WHERE batch IN (2, 3)',
  'a removed entry': 'DELETE FROM entries WHERE id = 2',
  'an inserted entry':
    'INSERT INTO entries SELECT 1000, batch, tenant, time, actor, actor_type, key, source, entity_type, ref, entity, operation, outcome, message, trace, trace_stream, trace_revision FROM entries WHERE id = 2',
  'a batch removed together with its entries':
    'DELETE FROM entries WHERE batch = 2; DELETE FROM batches WHERE sequence = 2',
  'two swapped batches':
    'UPDATE batches SET sequence = -sequence WHERE sequence IN (2, 3); UPDATE batches SET sequence = 5 + sequence WHERE sequence < 0;' +
    'UPDATE entries SET batch = 5 - batch WHERE batch IN (2, 3)',
  'a changed hash': 'UPDATE batches SET hash = zeroblob(32) WHERE sequence = 2',
  'a replaced trace id':
    'UPDATE entries SET trace = (SELECT trace FROM entries ORDER BY id DESC LIMIT 1) WHERE id = (SELECT max(id) - 2 FROM entries)',
};

test.each(Object.entries(tamperings))('%s is detected by recomputing the chain', async (_name, statements) => {
  const service = await startTestService();
  for (let count = 0; count < 3; count += 1) {
    const { id } = await createPlain(service);
    await service.call('GET', path(id));
  }
  const { intact } = await verifyAccessChain(service.vault.accessLog);
  expect(intact, 'before').toBe(true);
  await service.stop();

  const database = pinStatements(join(service.dataDir, file), {});
  behindTriggers(database, () => database.exec(statements));
  database.close();

  const again = await startTestService({ dataDir: service.dataDir, rootKey: service.rootKey });
  const report = await verifyAccessChain(again.vault.accessLog);
  await again.close();
  expect(report).toEqual({ intact: false, brokenAt: expect.any(Number) });
});
