import { atMost } from '../../domain/at-most.js';
import type { Generations, Rebuild } from '../../ports/generations.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { StoredProjection } from '../../views/versions.js';
import type { SqliteDatabase } from './database/open-database.js';
import { reading } from './database/reading.js';
import type { Writer } from './writer/writer.js';

type Row = { readonly generation: number; readonly state: 'read' | 'building' | 'left' };

/**
 * The number of rows in each request to the writer. The number is small so that reveals do not wait long. A reveal
 * waits until its access record is stored, and the writer stores access records only between two requests.
 */
const rowsAtOnce = 20;
/**
 * The maximum number of row requests that wait for the writer at the same time. The writer stores all of them in its
 * next commit.
 */
const requestsAtOnce = 5;
const rememberedMs = 1_000;

/**
 * Wraps `Generations` and caches the result of `inUse`. Only requests from this process change which generations are in
 * use, because no other process uses the files. The cache is therefore valid until this process makes such a request.
 * It is still read again every second. Threat: an attacker adds a generation, and no change can be stored until the
 * vault finds it.
 */
export function rememberingInUse(generations: Generations): Generations {
  let known: Awaited<ReturnType<Generations['inUse']>> | null = null;
  let knownUntil = 0;
  let changing = 0;

  async function change<T>(request: () => Promise<T>): Promise<T> {
    changing += 1;
    known = null;
    try {
      return await request();
    } finally {
      changing -= 1;
    }
  }

  return {
    ...generations,
    async inUse() {
      if (known !== null && performance.now() < knownUntil) return known;
      knownUntil = performance.now() + rememberedMs;
      const found = await generations.inUse();
      if (changing === 0) known = found;
      return found;
    },
    begin: (begun) => change(() => generations.begin(begun)),
    swap: (swapped, newVersion) => change(() => generations.swap(swapped, newVersion)),
    leave: (generation) => change(() => generations.leave(generation)),
    empty: (generation) => change(() => generations.empty(generation)),
  };
}

/**
 * Implements `Generations` on `vault.db` with two sets of tables, one of which is empty except during a rebuild. Once a
 * generation has been emptied, no file contains any of its data, because the pages of its tables are overwritten and
 * the write-ahead log is copied into `vault.db` and truncated.
 */
export function sqliteGenerations(database: SqliteDatabase, writer: Writer): Generations {
  const written = database.prepare(
    `SELECT generation, state FROM generations WHERE state <> 'dropping' ORDER BY generation`,
  );
  const versions = database.prepare('SELECT name, version FROM projections');
  const rebuild = database.prepare(`SELECT rebuild FROM projections WHERE name = 'tokens'`).pluck();
  /**
   * The generation whose rebuild should be canceled. It is stored only in memory, because only one process uses the
   * files.
   */
  let cancelled: number | null = null;

  const inUse: Generations['inUse'] = async () => {
    const rows = reading(() => written.all() as Row[]);
    const read = rows.find(({ state }) => state === 'read');
    if (read === undefined) throw new Error('no generation is read');
    return { read: read.generation, write: rows.map(({ generation }) => generation) };
  };

  return {
    inUse,
    async versions() {
      const rows = reading(() => versions.all() as { name: StoredProjection; version: number }[]);
      const stored = Object.fromEntries(rows.map((row) => [row.name, row.version]));
      return { tokens: 0, directory: 0, shredder: 0, ...stored };
    },
    saveVersion: async (name, version) => void (await writer.request('save_version', { name, version })),
    async rebuild() {
      const stored = reading(() => rebuild.get() as string | null);
      return stored === null ? null : (JSON.parse(stored) as Rebuild);
    },
    begin: (begun) => writer.request('begin_generation', begun),
    save: async (saved) => void (await writer.request('save_rebuild', saved)),
    async put(generation, rows) {
      // Sends no ciphertexts, because a row only refers to the events that contain them.
      const bare = rows.map(({ view, index, at }) => ({ view: { ...view, content: null, cvc: null }, index, at }));
      const requests = Array.from({ length: Math.ceil(bare.length / rowsAtOnce) }, (_, i) =>
        bare.slice(i * rowsAtOnce, (i + 1) * rowsAtOnce),
      );
      await atMost(requestsAtOnce, requests, (some) => writer.request('put_rows', { generation, rows: some }));
    },
    swap: (swapped, newVersion) => writer.request('swap_generation', { rebuild: swapped, version: newVersion }),
    leave: async (generation) => void (await writer.request('leave_generation', { generation })),
    async empty(generation) {
      if (!(await writer.request('empty_generation', { generation }))) return false;
      if (await writer.request('truncate_vault', null)) return true;
      throw new StoreUnavailable('vault.db', 'log_not_emptied_yet');
    },
    async askCancel(generation) {
      cancelled = generation;
    },
    isCancelAsked: async (generation) => cancelled === generation,
    async retire(generations) {
      const { write } = await inUse();
      return generations.filter((generation) => !write.includes(generation));
    },
    end: async (last) => void (await writer.request('save_rebuild', last)),
  };
}
