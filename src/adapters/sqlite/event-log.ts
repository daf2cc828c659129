import type { JsonObject } from '../../domain/json.js';
import type { StoredClear, StoredEvent } from '../../events/commit.js';
import type { StoredLog } from '../../ports/event-log.js';
import type { StoredWork } from '../../ports/unit-of-work.js';
import type { SqliteDatabase } from './database/open-database.js';
import { packStream, streamName } from './database/packed-text.js';
import { reading } from './database/reading.js';

type EventRow = {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly tenant: string;
  readonly actor: string;
  readonly time: number;
  readonly cmd: string | null;
  readonly trace: Buffer | null;
  readonly clear: string;
  readonly commit_first: number;
  readonly commit_digests: Buffer | null;
  readonly sealed_hash: string;
  readonly mac: string;
  readonly content: Buffer | null;
  readonly cvc: Buffer | null;
};

type ClearRow = Omit<EventRow, 'trace' | 'content' | 'cvc'>;

// A row stores `clear` before the ciphertexts. When a query reads only `clearColumns`, SQLite can therefore skip the
// pages that contain only ciphertext.
// SQLite returns the hash and the MAC as hex, because a buffer from SQLite takes longer than a buffer made from text.
const proofColumns = 'commit_first, commit_digests, hex(sealed_hash) AS sealed_hash, hex(mac) AS mac';
const clearColumns = `position, ${streamName('stream')} AS stream, revision, id, type, version, tenant, actor, time, cmd,
  clear, ${proofColumns}`;
const columns = `${clearColumns}, trace, content, cvc`;

/**
 * Implements `StoredLog` on `vault.db`. Reads use the connection `database`, and appends go through the unit of work.
 */
export function sqliteEventLog(database: SqliteDatabase, work: StoredWork): StoredLog {
  const stream = database.prepare(`SELECT ${columns} FROM events WHERE stream = ? ORDER BY revision`);
  const from = 'FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ? + 0';
  const some = database.prepare(`SELECT ${columns} ${from}`);
  const someClear = database.prepare(`SELECT ${clearColumns} ${from}`);
  const newest = database.prepare(
    `SELECT ${clearColumns} FROM events WHERE stream = ? AND revision < ? ORDER BY revision DESC LIMIT ? + 0`,
  );
  const all = database.prepare(`SELECT ${columns} FROM events WHERE position > ? ORDER BY position LIMIT ? + 0`);
  const allClear = database.prepare(
    `SELECT ${clearColumns} FROM events WHERE position > ? ORDER BY position LIMIT ? + 0`,
  );
  const head = database.prepare('SELECT max(position) FROM events').pluck();
  const after = database.prepare(
    'SELECT position FROM events WHERE stream = ? AND revision > ? ORDER BY revision LIMIT ? + 0',
  );
  after.pluck();

  return {
    async append(name, expectedRevision, commit) {
      const write = { stream: name, expectedRevision, commit, row: null, distinct: null };
      const { outcome } = await work.commit({ writes: [write], claim: null });
      if (outcome !== 'committed') return { outcome: 'conflict' };
      return {
        outcome: 'appended',
        positions: reading(() => after.all(packStream(name), expectedRevision, commit.events.length) as number[]),
      };
    },
    async readStream(name) {
      return reading(() => (stream.all(packStream(name)) as EventRow[]).map(recorded));
    },
    async readFrom(name, fromRevision, limit) {
      return reading(() => (some.all(packStream(name), fromRevision, limit) as EventRow[]).map(recorded));
    },
    async readClearFrom(name, fromRevision, limit) {
      return reading(() => (someClear.all(packStream(name), fromRevision, limit) as ClearRow[]).map(clearPart));
    },
    async readNewest(name, beforeRevision, limit) {
      const before = beforeRevision ?? Number.MAX_SAFE_INTEGER;
      return reading(() => (newest.all(packStream(name), before, limit) as ClearRow[]).map(clearPart));
    },
    async readAll(afterPosition, limit) {
      return reading(() => (all.all(afterPosition, limit) as EventRow[]).map(recorded));
    },
    async readClear(afterPosition, limit) {
      return reading(() => (allClear.all(afterPosition, limit) as ClearRow[]).map(clearPart));
    },
    async head() {
      return reading(() => Number(head.get() ?? 0));
    },
  };
}

function recorded(row: EventRow): StoredEvent {
  const { trace, content, cvc } = row;
  return { trace: bytesIn(trace), sealed: { content: bytesIn(content), cvc: bytesIn(cvc) }, ...clearPart(row) };
}

/**
 * Returns a ciphertext. Damage to a row can turn a ciphertext into text or a number. The hash of the result then does
 * not match, as with any other damaged ciphertext.
 */
function bytesIn(value: unknown): Buffer | null {
  return value === null || Buffer.isBuffer(value) ? value : Buffer.from(String(value));
}

/**
 * Lists every field explicitly. With this many fields, destructuring with `...rest` would take V8 several µs per row.
 */
function clearPart(row: ClearRow): StoredClear {
  return {
    position: row.position,
    stream: row.stream,
    revision: row.revision,
    id: row.id,
    type: row.type,
    version: row.version,
    tenantId: row.tenant,
    actorId: row.actor,
    time: row.time,
    cmd: row.cmd,
    clear: objectIn(row.clear),
    proof: {
      first: row.commit_first,
      digests: row.commit_digests,
      sealedHash: Buffer.from(row.sealed_hash, 'hex'),
      mac: Buffer.from(row.mac, 'hex'),
    },
  };
}

/**
 * Parses a JSON object. Returns an empty object if the text is not valid JSON. The vault never writes invalid JSON. If
 * the text is invalid, something else has changed the row, so the row's MAC does not match.
 */
function objectIn(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}
