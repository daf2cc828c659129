import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { deriveSubkeys, openTenantKey } from '#src/keys/tenant-key.js';
import { copyOf } from '../support/process.js';

type KeyRow = { readonly id: string; readonly wrapped: Buffer };

/**
 * Reads the files of a vault that is not open in any process. It reads copies, so the files themselves do not change.
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
  const events = vault.prepare('SELECT stream, clear FROM events ORDER BY position').all() as {
    stream: string;
    clear: string;
  }[];
  const living = livingKeys(copy);
  const damage = [vault, keys].filter((database) => database.pragma('integrity_check', { simple: true }) !== 'ok');
  vault.close();
  keys.close();
  rootKey.fill(0);
  const endedOf = (clear: string) =>
    ((JSON.parse(clear) as { ends?: string[] }).ends ?? []).map((id) => id.replaceAll('-', ''));
  return {
    /** The ids of keys that an event marks for destruction but that can still be unwrapped. */
    endedAlive: events.flatMap(({ clear }) => endedOf(clear)).filter((id) => living.has(id)),
    living,
    isDamaged: damage.length > 0,
    /** Returns the ids of the keys that events on these tokens mark for destruction. */
    endedKeysOf(ids: readonly string[]): string[] {
      const streams = new Set(ids.map((id) => tokenStream(names, id)));
      return events.filter(({ stream }) => streams.has(stream)).flatMap(({ clear }) => endedOf(clear));
    },
  };
}

/** Returns how many of these wrapped keys still occur in a file of the key store. */
export function bytesLeft(dataDir: string, wrapped: readonly Buffer[]): number {
  const files = ['keys.db', 'keys.db-wal'].map((file) => join(dataDir, file)).filter((file) => existsSync(file));
  const raw = files.map((file) => readFileSync(file));
  return wrapped.filter((bytes) => raw.some((file) => file.includes(bytes))).length;
}

/** Returns the wrapped bytes of every key that is not destroyed, by key id. Works even while a service runs. */
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

/** Returns the number of rows of live tokens. Works even while a service runs. */
export function livingTokens(dataDir: string): number {
  const vault = pinStatements(join(dataDir, 'vault.db'), { readonly: true, timeout: 5_000 });
  try {
    return Number(vault.prepare('SELECT count(*) FROM token_rows_1 WHERE removed_at IS NULL').pluck().get());
  } finally {
    vault.close();
  }
}
