import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { prepareStores } from '#src/adapters/sqlite/writer/prepare-stores.js';

function open(dataDir: string): void {
  const { vault, keys, journal } = prepareStores(dataDir);
  for (const database of [vault, keys, journal]) database.close();
}

const rebuild = { generation: 2, from: 1, phase: 'ended', position: 4, head: 4, startedAt: 1, acceptNew: false };
const ended = JSON.stringify({ ...rebuild, outcome: 'done', different: 0, examples: [], rate: null });
const incomplete = JSON.stringify(rebuild);

test.each([
  ['vault.db', 'index_state_1', 'DELETE FROM index_state_1'],
  ['vault.db', 'index_state_0', 'INSERT INTO index_state_0 VALUES (0, 0, 0)'],
  ['vault.db', 'index_state_1', `UPDATE index_state_1 SET merged = ${2n ** 63n - 1n}`],
  ['vault.db', 'applied', 'DELETE FROM applied'],
  ['vault.db', 'applied', `UPDATE applied SET hash = x'00'`],
  ['vault.db', 'generations', 'UPDATE generations SET slot = 9'],
  ['vault.db', 'generations', `UPDATE generations SET state = 'left'`],
  ['vault.db', 'projections', `UPDATE projections SET rebuild = '{bad'`],
  ['vault.db', 'projections', `UPDATE projections SET rebuild = '${incomplete}'`],
  ['vault.db', 'projections', `DELETE FROM projections WHERE name = 'tokens'`],
  ['journal.db', 'ends', `DELETE FROM ends WHERE of = 'groups'`],
  ['keys.db', 'meta', `INSERT INTO meta VALUES ('log_memory', x'')`],
  ['keys.db', 'directory_revisions', `INSERT INTO directory_revisions VALUES ('tenant', 'a', -1)`],
])('%s is not opened if its table %s has an impossible state (%s)', (file, table, sql) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-state-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  open(dataDir);
  const database = pinStatements(join(dataDir, file), {});
  if (table === 'projections') database.exec(`UPDATE projections SET rebuild = '${ended}' WHERE name = 'tokens'`);
  database.close();
  open(dataDir);
  const changed = pinStatements(join(dataDir, file), {});
  changed.exec(sql);
  changed.close();
  expect(() => open(dataDir)).toThrow(
    expect.objectContaining({
      name: 'StoreBroken',
      message: expect.stringMatching(
        new RegExp(`^${file} is damaged: [^.]* table ${table}\\b.*restore the data directory from a backup\\.$`),
      ),
    }),
  );
});
