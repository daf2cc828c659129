import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createGroupCommit } from '#src/adapters/sqlite/database/group-commit.js';
import { openDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { vaultSchema } from '#src/adapters/sqlite/database/vault-schema.js';
import { sqliteErasureProbe } from '#src/adapters/sqlite/erasure-probe.js';
import { changeOf } from '#src/adapters/sqlite/search-index/entries.js';
import { createIndexMaintenance } from '#src/adapters/sqlite/writer/index-maintenance.js';
import type { Writer } from '#src/adapters/sqlite/writer/writer.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';

/** Creates a `vault.db` with two changes to the search index: the second removes the postings of the first. */
function makeVault() {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-maintenance-'));
  const database = openDatabase(join(dataDir, 'vault.db'), 'vault.db', 'writer');
  database.exec(vaultSchema);
  const term = Buffer.alloc(16, 1);
  const insert = database.prepare('INSERT INTO index_changes_1 (number, seq, added, removed) VALUES (?, 1, ?, ?)');
  insert.run(1, changeOf(term, 1), null);
  insert.run(2, null, changeOf(term, 1));
  const remove = () => {
    database.close();
    rmSync(dataDir, { recursive: true });
  };
  return { database, commit: createGroupCommit(database, 'vault.db', vaultSchema), remove };
}

test('maintenance makes progress even if each transaction takes longer to begin than a slice lasts', async () => {
  const { database, commit, remove } = makeVault();
  const { now } = performance;
  let late = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + late);
  const maintenance = createIndexMaintenance({
    database,
    commitGroup: (works) => {
      late += 10;
      if (late > 1_000) throw new Error('100 slices performed no step');
      return commit(works);
    },
    onErased: () => undefined,
    onDamaged: (damage) => expect.unreachable(String(damage)),
    onBroken: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
    remove();
  });
  maintenance.close();
  expect(database.prepare('SELECT count(*) FROM index_changes_1').pluck().get()).toBe(0);
});

test('while the disk is full, an erasure check fails, instead of asking again without a pause', async () => {
  const { database, commit, remove } = makeVault();
  let isFull = true;
  const full = new StoreUnavailable('vault.db', 'full');
  const maintenance = createIndexMaintenance({
    database,
    commitGroup: (works) => (isFull ? [{ ok: false, error: full }] : commit(works)),
    onErased: () => undefined,
    onDamaged: (damage) => expect.unreachable(String(damage)),
    onBroken: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => {
    isFull = false;
    maintenance.close();
    remove();
  });
  let requests = 0;
  const request = async (_operation: string, upTo: unknown): Promise<unknown> => {
    requests += 1;
    if (requests > 1_000) throw new Error('the erasure check asked 1,000 times');
    return maintenance.erase(upTo as readonly number[]);
  };
  const writer: Writer = { request: request as Writer['request'], notice: null, close: async () => undefined };
  const probe = sqliteErasureProbe(database, writer);
  const token = { stream: `token-${'0'.repeat(64)}`, created: [1] };
  await expect(probe.of(token)).rejects.toBe(full);
  await expect(probe.of(token)).rejects.toBe(full);

  isFull = false;
  await vi.waitFor(() => probe.of(token), { timeout: 30_000 });
  expect((await probe.of(token)).map(({ found }) => found)).toEqual(Array.from({ length: 12 }, () => 0));
});
