import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { openSqliteStores } from '#src/adapters/sqlite/open-stores.js';
import { manualClock } from '../../support/manual-clock.js';

const fail = (error: unknown) => expect.unreachable(String(error));
/** The number of rows that are due, and the time before which they are due. */
const [due, limit] = [1_000, 5_000];

/** Opens a vault with many rows that are due for removal, and some that are not. */
async function withDueRows() {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-removals-'));
  const clock = manualClock();
  await (await openSqliteStores(dataDir, clock, fail)).close();
  const file = openDatabase(join(dataDir, 'vault.db'), 'vault.db', 'writer');
  const claim = file.prepare(`INSERT INTO claims VALUES (?, ?, '{"tokens":[]}', x'')`);
  const tombstones = [0, 1].map((slot) =>
    file.prepare(
      `INSERT INTO token_rows_${slot} (stream, tenant, revision, mac, removed_at) VALUES (?, 't', 1, x'', ?)`,
    ),
  );
  const sealedId = file.prepare('INSERT INTO webhook_ids VALUES (?, ?, ?, ?)');
  file.transaction(() => {
    for (let i = 0; i < due + 10; i += 1) {
      const at = i < due ? 1 + i : limit + i;
      claim.run(`cmd-${i}`, at);
      for (const tombstone of tombstones) tombstone.run(randomBytes(32), at);
      sealedId.run('of-one', `event-${i}`, randomBytes(40), at);
      sealedId.run('of-other', `event-${i}`, randomBytes(40), at);
    }
  })();
  const stores = await openSqliteStores(dataDir, clock, fail);
  onTestFinished(async () => {
    file.close();
    await stores.close();
    rmSync(dataDir, { recursive: true });
  });
  const count = (table: string, where = 'true') =>
    Number(file.prepare(`SELECT count(*) FROM ${table} WHERE ${where}`).pluck().get());
  return { stores, count };
}

type Opened = Awaited<ReturnType<typeof withDueRows>>;
type Removal = {
  readonly remove: (stores: Opened['stores']) => Promise<unknown>;
  /** Returns how many rows are still due. */
  readonly left: (count: Opened['count']) => number;
};

const removals: readonly (readonly [string, Removal])[] = [
  [
    'expired claims',
    {
      remove: ({ claims }) => claims.forget(limit),
      left: (count) => count('claims', `time < ${limit}`),
    },
  ],
  [
    'tombstones',
    {
      remove: ({ forgetTombstones }) => forgetTombstones(limit),
      left: (count) => count('token_rows_0', `removed_at < ${limit}`) + count('token_rows_1', `removed_at < ${limit}`),
    },
  ],
  [
    'old sealed ids of webhooks',
    {
      remove: ({ webhookStore }) => webhookStore.forgetIds(limit, limit),
      left: (count) => count('webhook_ids', `abs(at) < ${limit}`),
    },
  ],
  [
    'the contents of sealed ids of webhooks',
    {
      remove: ({ webhookStore }) => webhookStore.forgetIds(limit, 0),
      left: (count) => count('webhook_ids', `abs(at) < ${limit} AND sealed <> x''`),
    },
  ],
  [
    'the sealed ids of a removed webhook',
    {
      remove: ({ webhookStore }) => webhookStore.remove('of-one'),
      left: (count) => count('webhook_ids', `webhook = 'of-one'`),
    },
  ],
];

/** Threat: after a burst, removing all of its rows in one transaction blocks every other write for seconds. */
test.each(removals)('while %s are removed, other changes are committed', async (_what, { remove, left }) => {
  const { stores, count } = await withDueRows();
  const before = left(count);
  expect(before).toBeGreaterThanOrEqual(due);
  const claims = count('claims', `time >= ${limit}`);
  const leftAfterCommit: number[] = [];
  const commit = async () => {
    await new Promise(setImmediate);
    const claim = { cmd: randomUUID(), result: { tokens: [] }, time: limit, mac: Buffer.alloc(32) };
    expect(await stores.storedWork.commit({ writes: [], claim })).toEqual({ outcome: 'committed' });
    leftAfterCommit.push(left(count));
  };
  await Promise.all([remove(stores), commit()]);
  expect(leftAfterCommit[0], 'due rows when the other change was acknowledged').toBeGreaterThan(before / 2);
  expect(left(count)).toBe(0);
  expect(count('claims', `time >= ${limit}`)).toBe(claims + 1);
  expect(count('token_rows_0')).toBeGreaterThanOrEqual(10);
  expect(count('token_rows_1', `removed_at > ${limit}`)).toBe(10);
  expect(count('webhook_ids', `webhook = 'of-other' AND sealed <> x''`)).toBeGreaterThanOrEqual(10);
});

test('a new use of an expired idempotency key removes only the claim of this key', async () => {
  const { stores, count } = await withDueRows();
  expect(await stores.claims.begin('cmd-7', limit)).toEqual({ state: 'fresh' });
  expect(count('claims')).toBe(due + 9);
  const claim = { cmd: 'cmd-7', result: { tokens: [] }, time: limit, mac: Buffer.alloc(32) };
  expect(await stores.storedWork.commit({ writes: [], claim })).toEqual({ outcome: 'committed' });
});
