import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { vi } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { slots } from '#src/adapters/sqlite/database/rows-schema.js';
import type { Rebuild } from '#src/ports/generations.js';
import { storedPostings } from '../support/stored-postings.js';
import type { TestService } from '../support/test-service.js';

export const generous = { timeout: 50_000, interval: 20 };

/** Rebuilds the token rows, and returns the outcome. */
export async function rebuildTokens({ service }: TestService, acceptNew = false) {
  await service.projections.rebuild('tokens', acceptNew);
  return endOfRebuild({ service });
}

/** Waits until no rebuild is running. Returns the outcome of the last rebuild, or null if no outcome is recorded. */
export function endOfRebuild({ service }: Pick<TestService, 'service'>) {
  return vi.waitFor(async () => {
    const [tokens] = await service.projections.status();
    if (tokens === undefined || tokens.rebuild !== null)
      throw new Error(`it goes on: ${JSON.stringify(tokens?.rebuild)}`);
    return tokens.lastRebuild;
  }, generous);
}

/**
 * Returns the contents of the files: the number of rows in each set of tables, the generations, and the search keys
 * that are not destroyed.
 */
export function storedIn(dataDir: string) {
  const vault = pinStatements(join(dataDir, 'vault.db'), { readonly: true });
  const keys = pinStatements(join(dataDir, 'keys.db'), { readonly: true });
  try {
    const count = (table: string): number => Number(vault.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
    return {
      generations: vault.prepare('SELECT generation, state FROM generations ORDER BY generation').all(),
      rows: [count('token_rows_0'), count('token_rows_1')],
      postings: slots.map((slot) => storedPostings(vault, slot).length),
      /** How many entries of the search index each set of tables contains, including a set that is not in use. */
      index: slots.map((slot) =>
        ['changes', 'runs', 'segments', 'filters', 'blocks'].reduce(
          (sum, table) => sum + count(`index_${table}_${slot}`),
          0,
        ),
      ),
      counts: [count('token_counts_0'), count('token_counts_1')],
      keys: keys.prepare('SELECT generation FROM generation_keys WHERE destroyed_at = 140737488355327').pluck().all(),
    };
  } finally {
    vault.close();
    keys.close();
  }
}

/** Returns the stored state of the last token row rebuild, or null if the token rows have never been rebuilt. */
export function rebuildIn(dataDir: string): Rebuild | null {
  const vault = openVault(dataDir);
  try {
    const text = vault.prepare(`SELECT rebuild FROM projections WHERE name = 'tokens'`).pluck().get() as string | null;
    return text === null ? null : JSON.parse(text);
  } finally {
    vault.close();
  }
}

/** Returns the names of the files in a data directory that contain any of these bytes. */
export function standsInFiles(dataDir: string, all: readonly Buffer[]): string[] {
  const files = ['vault.db', 'vault.db-wal', 'keys.db', 'keys.db-wal'].filter((file) =>
    existsSync(join(dataDir, file)),
  );
  return files.filter((file) => {
    // A separate process reads the file. If this process opened and closed a SQLite file, it would release the locks of
    // the service under test.
    const content = execFileSync('cat', [join(dataDir, file)], { maxBuffer: 1 << 30 });
    return all.some((bytes) => content.includes(bytes));
  });
}

/** Opens `vault.db` while the service runs, so that a test can read or damage the file. */
export function openVault(dataDir: string): Database.Database {
  return pinStatements(join(dataDir, 'vault.db'), { timeout: 10_000 });
}
