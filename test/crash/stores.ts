import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { streamName } from '#src/adapters/sqlite/database/packed-text.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { deriveSubkeys, openTenantKey } from '#src/keys/tenant-key.js';
import { entriesOfLines } from '../support/entries-of-line.js';
import { copyOf } from '../support/process.js';
import { storedPostings, termsIn } from '../support/stored-postings.js';

type KeyRow = { readonly id: string; readonly wrapped: Buffer };

/**
 * Reads the files of a vault while no process has the vault open. It reads copies, so the files themselves do not
 * change.
 */
export function lookInto(dataDir: string, rootKeyFile: string, tenantId: string) {
  const copy = copyOf(dataDir);
  const vault = pinStatements(join(copy, 'vault.db'), {});
  const keys = pinStatements(join(copy, 'keys.db'), {});
  const rootKey = Buffer.from(readFileSync(rootKeyFile, 'utf8').trim(), 'hex');
  const purpose = 'identity' as const;
  const find = keys.prepare('SELECT id, wrapped FROM tenant_keys WHERE tenant = ? AND purpose = ?');
  const { id, wrapped } = find.get(tenantId, purpose) as KeyRow;
  const identity = openTenantKey(rootKey, wrapped, { id, tenant: tenantId, purpose });
  if (identity === null) throw new Error('the tenant has no keys');
  const { names } = deriveSubkeys(identity, () => 0);
  const events = vault
    .prepare(`SELECT ${streamName('stream')} AS stream, clear FROM events ORDER BY position`)
    .all() as {
    stream: string;
    clear: string;
  }[];
  const living = livingKeys(copy);
  const journal = pinStatements(join(copy, 'journal.db'), {});
  const months = readdirSync(copy)
    .filter((name) => /^access-[0-9-]+\.db$/.test(name))
    .map((name) => pinStatements(join(copy, name), {}));
  const all = [vault, keys, journal, ...months];
  const damage = all.filter((database) => database.pragma('integrity_check', { simple: true }) !== 'ok');
  const postings = wrongPostings(vault);
  const reveals = recordedReveals(journal, months);
  for (const database of all) database.close();
  rootKey.fill(0);
  const endedOf = (clear: string) =>
    ((JSON.parse(clear) as { ends?: string[] }).ends ?? []).map((id) => id.replaceAll('-', ''));
  return {
    /** The ids of keys that can still be unwrapped even though an event marks them for destruction. */
    endedAlive: events.flatMap(({ clear }) => endedOf(clear)).filter((id) => living.has(id)),
    living,
    isDamaged: damage.length > 0,
    /** The number of postings that are only in the search index or only in the rows. */
    wrongPostings: postings,
    /** The number of reveals recorded in the access log. */
    reveals,
    /** Returns the ids of the keys marked for destruction by events on these tokens. */
    endedKeysOf(ids: readonly string[]): string[] {
      const streams = new Set(ids.map((id) => tokenStream(names, id)));
      return events.filter(({ stream }) => streams.has(stream)).flatMap(({ clear }) => endedOf(clear));
    },
  };
}

/** Returns the number of postings that are only in the search index or only in the rows. */
function wrongPostings(vault: Database.Database): number {
  const counts = new Map<string, number>();
  const note = (term: string, seq: number, by: number) => {
    const name = `${term} ${seq}`;
    counts.set(name, (counts.get(name) ?? 0) + by);
  };
  for (const { term, seq, kind } of storedPostings(vault, 1)) note(term, seq, kind === 'removed' ? -1 : 1);
  const rows = vault.prepare('SELECT seq, terms FROM token_rows_1 WHERE seq IS NOT NULL').all() as {
    readonly seq: number;
    readonly terms: Buffer;
  }[];
  for (const { seq, terms } of rows) for (const term of termsIn(terms)) note(term, seq, -1);
  return [...counts.values()].filter((count) => count !== 0).length;
}

/** Counts the recorded reveals: those in the month files, and those that are still only in the journal. */
function recordedReveals(journal: Database.Database, months: readonly Database.Database[]): number {
  const moved = months.map((month) => {
    const newest = Number(month.prepare('SELECT ifnull(max(sequence), 0) FROM batches').pluck().get());
    const count = month
      .prepare(`SELECT count(*) FROM entries WHERE operation = (SELECT id FROM words WHERE text = 'reveal')`)
      .pluck();
    return { newest, count: Number(count.get()) };
  });
  const newest = Math.max(0, ...moved.map((month) => month.newest));
  const waiting = journal.prepare('SELECT lines FROM batches WHERE sequence > ?').pluck().all(newest) as string[];
  const entries = waiting.flatMap((text) => entriesOfLines(text.split('\n')));
  return (
    moved.reduce((sum, { count }) => sum + count, 0) + entries.filter(({ operation }) => operation === 'reveal').length
  );
}

/** Returns how many of these wrapped keys still occur in a file of the data directory. */
export function bytesLeft(dataDir: string, wrapped: readonly Buffer[]): number {
  // There are thousands of keys. For speed, a position in a file is compared with the keys only if the three bytes
  // there are the first three bytes of a key.
  const begins = new Uint8Array(2 ** 24);
  const byBeginning = new Map<number, Buffer[]>();
  for (const bytes of wrapped) {
    begins[bytes.readUIntBE(0, 3)] = 1;
    const beginning = bytes.readUIntBE(0, 6);
    byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), bytes]);
  }
  const left = new Set<Buffer>();
  for (const name of readdirSync(dataDir)) {
    const path = join(dataDir, name);
    if (!statSync(path).isFile()) continue;
    const file = readFileSync(path);
    let window = 0;
    for (let end = 0; end < file.length; end += 1) {
      window = ((window << 8) | (file[end] ?? 0)) & 0xffffff;
      const at = end - 2;
      if (begins[window] !== 1 || at < 0 || at + 6 > file.length) continue;
      for (const bytes of byBeginning.get(file.readUIntBE(at, 6)) ?? []) {
        if (file.subarray(at, at + bytes.length).equals(bytes)) left.add(bytes);
      }
    }
  }
  return left.size;
}

/**
 * Returns the wrapped bytes of every key that is not destroyed, keyed by key id. This also works while a service is
 * running.
 */
export function livingKeys(dataDir: string): ReadonlyMap<string, Buffer> {
  const keys = pinStatements(join(dataDir, 'keys.db'), { readonly: true, timeout: 5_000 });
  try {
    const rows = keys.prepare('SELECT lower(hex(id)) AS id, wrapped FROM data_keys').all() as KeyRow[];
    return new Map(rows.filter(({ wrapped }) => !isZero(wrapped)).map(({ id, wrapped }) => [id, wrapped]));
  } finally {
    keys.close();
  }
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Returns the number of rows of live tokens. This also works while a service is running. */
export function livingTokens(dataDir: string): number {
  return countRows(dataDir, 'removed_at IS NULL');
}

/** Returns how many tokens of this type a search must currently find. This also works while a service is running. */
export function searchableTokens(dataDir: string, type: 'token' | 'card'): number {
  return countRows(dataDir, `removed_at IS NULL AND type = '${type}' AND ifnull(expires_at > ${Date.now()}, true)`);
}

function countRows(dataDir: string, where: string): number {
  const vault = pinStatements(join(dataDir, 'vault.db'), { readonly: true, timeout: 5_000 });
  try {
    return Number(vault.prepare(`SELECT count(*) FROM token_rows_1 WHERE ${where}`).pluck().get());
  } finally {
    vault.close();
  }
}
