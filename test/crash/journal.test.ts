import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { decodeChanges, encodeChanges } from '#src/adapters/sqlite/journal/change-bytes.js';
import { groupHash } from '#src/adapters/sqlite/journal/journal.js';
import { type PackedChange, packChange, unpackChange } from '#src/adapters/sqlite/writer/packed-change.js';
import type { StoredChange } from '#src/ports/unit-of-work.js';
import { fill, unread } from '../rotation/support.js';
import {
  http,
  makeVault,
  run,
  spawnService,
  startService,
  startSigningService,
  type TestVault,
  tempDir,
} from '../support/process.js';
import { canMount, smallDisk } from '../support/small-disk.js';

const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0' };

/** Copies a database with its write-ahead log. Returns a function that restores the copies. */
function keep(dataDir: string, name: string): () => void {
  const to = tempDir();
  const files = [name, `${name}-wal`].filter((file) => existsSync(join(dataDir, file)));
  for (const file of files) copyFileSync(join(dataDir, file), join(to, file));
  return () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDir, name + suffix), { force: true });
    for (const file of files) copyFileSync(join(to, file), join(dataDir, file));
  };
}

/**
 * Fills a vault, changes and deletes tokens, and kills the service. Returns the vault's contents, and functions that
 * restore files to their state before the changes. A power loss would leave the files in this state if the disk had
 * stored only what was synced.
 */
async function killed(vault: TestVault) {
  const { dataDir, key } = vault;
  const service = await startSigningService(vault, [], { env });
  // Keeps the service from emptying the write-ahead log and the journal, which it does 30 seconds after the start.
  const reader = pinStatements(join(dataDir, 'vault.db'), { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM events').get();
  const made = await fill(service.address, vault, 4);
  const putBackVault = keep(dataDir, 'vault.db');
  const putBackJournal = keep(dataDir, 'journal.db');
  for (const [id, data] of await fill(service.address, vault, 8)) made.set(id, data);
  const [deleted = '', changed = ''] = made.keys();
  expect((await http('DELETE', `${service.address}/tokens/${deleted}`, { key })).status).toBe(204);
  const patched = await http('PATCH', `${service.address}/tokens/${changed}`, { key, body: { data: 'newer' } });
  expect(patched.status).toBe(200);
  made.delete(deleted);
  made.set(changed, 'newer');
  await service.stop('SIGKILL');
  reader.close();
  return { made, deleted, putBackVault, putBackJournal };
}

/**
 * Starts the vault, and checks that it contains everything that was acknowledged. Returns the output of the service.
 */
async function expectComplete({ flags, key }: TestVault, { made, deleted }: Awaited<ReturnType<typeof killed>>) {
  const service = await startService(flags, { env });
  expect(await unread(service.address, key, made)).toEqual([]);
  expect((await http('GET', `${service.address}/tokens/${deleted}`, { key })).status).toBe(404);
  const { stdout, stderr, code } = await service.stop();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(await run(['audit', 'verify', ...flags])).toMatchObject({ code: 0 });
  return stdout;
}

describe('after a power loss', () => {
  test('if vault.db lost its newest groups, it gets them from the journal, even if several starts are killed', async () => {
    const vault = await makeVault();
    const state = await killed(vault);
    for (const afterMs of [150, 300, 450, 600]) {
      state.putBackVault();
      const starting = spawnService(vault.flags);
      await wait(afterMs);
      await starting.stop('SIGKILL');
    }
    await expectComplete(vault, state);
  });

  test('if vault.db lost its newest groups, a backup still contains them', async () => {
    const vault = await makeVault();
    const { putBackVault, made } = await killed(vault);
    putBackVault();
    const to = join(tempDir(), 'backup');
    const identity = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
    expect(await run(['backup', to, '--recipient', identity, ...vault.flags])).toMatchObject({ code: 0 });
    const copy = pinStatements(join(to, 'vault.db'), { readonly: true });
    const living = copy.prepare('SELECT count(*) FROM token_rows_1 WHERE removed_at IS NULL').pluck().get();
    copy.close();
    expect(living).toBe(made.size);
    expect(existsSync(join(to, 'journal.db'))).toBe(false);
  });
});

test('if the journal lost its end after vault.db got the changes, no change is lost, and the service reports it', async () => {
  const vault = await makeVault();
  const state = await killed(vault);
  state.putBackJournal();
  expect(await expectComplete(vault, state)).toContain('journal.db ends before vault.db');
});

test('if the journal is missing, no change is lost, and the service reports it', async () => {
  const vault = await makeVault();
  const state = await killed(vault);
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(vault.dataDir, `journal.db${suffix}`), { force: true });
  expect(await expectComplete(vault, state)).toContain('journal.db ends before vault.db');
});

test.runIf(canMount).each(['SIGKILL', 'SIGTERM'] as const)(
  'if the journal was full at a %s, the service names this as a possible cause',
  async (signal) => {
    const vault = await makeVault();
    const { dataDir, key } = vault;
    const disk = smallDisk(2 * 1024 * 1024);
    const journal = join(dataDir, 'journal.db');
    copyFileSync(journal, join(disk.dir, 'journal.db'));
    rmSync(journal);
    symlinkSync(join(disk.dir, 'journal.db'), journal);
    const service = await startService(vault.flags, { env });
    const made = await fill(service.address, vault, 20);
    disk.fill();
    for (const id of made.keys()) {
      expect((await http('DELETE', `${service.address}/tokens/${id}`, { key })).status).toBe(204);
    }
    await service.stop(signal);
    disk.free();
    const started = await startService(vault.flags, { env });
    const notice = 'journal.db ends before vault.db: its disk was full when the service stopped, or';
    expect((await started.stop()).stdout).toContain(notice);
  },
);

test('with older copies of both vault.db and the journal, the vault does not start, so no change is lost silently', async () => {
  const vault = await makeVault();
  const { putBackVault, putBackJournal } = await killed(vault);
  putBackVault();
  putBackJournal();
  const refused = await run(['serve', '--port', '0', ...vault.flags]);
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('the log is behind its keys') });
});

/**
 * Ways in which a program with write access to the files can change the journal. The test makes each change before the
 * vault replays the groups that are missing from `vault.db`.
 */
const alterations: Readonly<Record<string, (journal: Database.Database) => void>> = {
  'a changed group': (journal) => {
    journal.exec(
      `UPDATE groups SET changes = CAST(changes || x'00' AS BLOB) WHERE sequence = (SELECT max(sequence) FROM groups)`,
    );
  },
  'a group that is missing in the middle': (journal) => {
    journal.exec('DELETE FROM groups WHERE sequence = (SELECT max(sequence) - 1 FROM groups)');
  },
  'two swapped groups': (journal) => {
    const newest = '(SELECT max(sequence) FROM groups WHERE sequence > 0)';
    journal.exec(`UPDATE groups SET sequence = -sequence WHERE sequence >= ${newest} - 1;
      UPDATE groups SET sequence = (SELECT -sum(sequence) FROM groups WHERE sequence < 0) + sequence WHERE sequence < 0;`);
  },
  'a group in another encoding': (journal) => plant(journal, Buffer.from('not a group')),
  'a group with an operation that does not exist': (journal) =>
    plant(journal, encodeChanges([{ operation: 'constructor', input: null }])),
  'a change that vault.db would not have accepted': (journal) => {
    const { changes } = journal.prepare('SELECT changes FROM groups ORDER BY sequence DESC LIMIT 1').get() as Group;
    plant(journal, changes);
  },
  'a changed access log batch': (journal) => {
    journal.exec(`UPDATE batches SET lines = replace(lines, 'success', 'failed')`);
  },
};

type Group = { readonly sequence: number; readonly hash: Buffer; readonly changes: Buffer };

/** Appends a group with the correct hash, which an attacker can compute without a key. */
function plant(journal: Database.Database, changes: Buffer): void {
  const last = journal
    .prepare('SELECT sequence, hash, changes FROM groups ORDER BY sequence DESC LIMIT 1')
    .get() as Group;
  const sequence = last.sequence + 1;
  const insert = journal.prepare('INSERT INTO groups (sequence, hash, position, changes) VALUES (?, ?, 0, ?)');
  insert.run(sequence, groupHash(last.hash, sequence, changes), changes);
}

function alter({ dataDir }: TestVault, change: (journal: Database.Database) => void): void {
  const journal = pinStatements(join(dataDir, 'journal.db'), {});
  change(journal);
  journal.close();
}

test.each(Object.entries(alterations))(
  '%s makes the start fail, and the message names the file',
  async (_what, change) => {
    const vault = await makeVault();
    const { putBackVault } = await killed(vault);
    putBackVault();
    alter(vault, change);
    const refused = await run(['serve', '--port', '0', ...vault.flags]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^journal\.db was changed by another program/);
    expect((await run(['doctor', ...vault.flags])).stdout).toContain('journal.db was changed by another program');
  },
);

test('a planted change that vault.db accepts is detected like a change that was written directly into vault.db', async () => {
  const vault = await makeVault();
  await killed(vault);
  // A new stream that begins with another token's event.
  const stream = `token-${randomBytes(16).toString('hex')}`;
  alter(vault, (journal) => {
    const groups = journal.prepare('SELECT changes FROM groups ORDER BY sequence').pluck().all() as Buffer[];
    const commits = groups.flatMap(decodeChanges).filter(({ operation }) => operation === 'commit');
    const [write] = commits
      .flatMap(({ input }) => unpackChange(input as PackedChange).writes)
      .filter(({ row }) => row?.of === 'token');
    if (write === undefined) throw new Error('no token was created');
    const forged: StoredChange = {
      writes: [{ ...write, stream, row: null, distinct: null, expectedRevision: -1 }],
      claim: null,
    };
    plant(journal, encodeChanges([{ operation: 'commit', input: packChange(forged) }]));
  });
  const { code, stdout, stderr } = await run(['audit', 'verify', ...vault.flags]);
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toMatch(/^the event at position \d+ \(token\.created \S+, revision 0 of token-\w+\) was changed, or /);
  expect(stderr).toContain(` of ${stream})`);
});
