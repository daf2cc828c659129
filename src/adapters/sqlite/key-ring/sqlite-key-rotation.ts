import { type Clock, earliestNow } from '../../../ports/clock.js';
import { type KeyRotation, RotationRefused } from '../../../ports/key-rotation.js';
import { rewrapDataKey } from '../../key-ring/data-key.js';
import { rewrapGenerationKey } from '../../key-ring/generation-key.js';
import { newRootCheck, passesRootCheck } from '../../key-ring/root-check.js';
import type { RootKeys } from '../../key-ring/root-keys.js';
import { rewrapTenantKey } from '../../key-ring/tenant-key.js';
import { never } from '../database/keys-schema.js';
import { numberBytes, numberIn } from '../database/number-bytes.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { reading } from '../database/reading.js';
import { uuidText } from '../database/uuid-bytes.js';
import type { RewrappedKey } from '../writer/protocol.js';
import type { Writer } from '../writer/writer.js';
import type { createTenantKeys } from './tenant-keys.js';

const stepSize = 500;
const tenantsAtOnce = 100;

type Deps = {
  readonly database: SqliteDatabase;
  readonly writer: Writer;
  readonly roots: RootKeys;
  readonly tenants: ReturnType<typeof createTenantKeys>;
  readonly clock: Clock;
  /** Returns the id of the newest wrapping key of a tenant, with room for `wraps` more wraps. */
  readonly wrapperFor: (tenantId: string, wraps: number) => Promise<string>;
};

type TenantKey = { readonly id: string; readonly tenant: string; readonly purpose: string; readonly wrapped: Buffer };
type LivingKey = {
  readonly sequence: number;
  readonly id: Buffer;
  readonly tenant_key: Buffer;
  readonly wrapped: Buffer;
};

/**
 * `lastRow`: the last row of `tenant_keys` at the start. `at`: copies made before this time (ms) hold no newer keys.
 */
type Begun = { readonly lastRow: number; readonly at: number | null };

/**
 * Implements `KeyRotation` on `keys.db` (ADR 29). The row `rotation` of `meta` holds the last row of `tenant_keys` at
 * the start of the rotation, and the time of the start. The wrapping keys up to that row are the old ones.
 */
export function sqliteKeyRotation({ database, writer, roots, tenants, clock, wrapperFor }: Deps): KeyRotation {
  const metaOf = database.prepare('SELECT value FROM meta WHERE name = ?').pluck();
  const lastTenantKey = database.prepare('SELECT max(rowid) FROM tenant_keys').pluck();
  const isOld = `purpose = 'wrapping' AND destroyed_at = ${never} AND rowid <= ?`;
  const oldWrapping = database.prepare(`SELECT id, tenant FROM tenant_keys WHERE ${isOld}`);
  const hasNewer = database
    .prepare(
      `SELECT 1 FROM tenant_keys WHERE tenant = ? AND purpose = 'wrapping' AND destroyed_at = ${never} AND rowid > ?`,
    )
    .pluck();
  const livingDataKeys = database.prepare(`SELECT count(*) FROM data_keys WHERE destroyed_at = ${never}`).pluck();
  const dataKeysAfter = database.prepare(
    `SELECT sequence, id, tenant_key, wrapped FROM data_keys
     WHERE sequence > ? AND destroyed_at = ${never} ORDER BY sequence LIMIT ${stepSize}`,
  );
  const livingTenantKeys = database.prepare(
    `SELECT id, tenant, purpose, wrapped FROM tenant_keys WHERE destroyed_at = ${never}`,
  );
  const livingGenerations = database.prepare(
    `SELECT generation, wrapped FROM generation_keys WHERE destroyed_at = ${never}`,
  );

  /** Returns null if no rotation was begun. */
  function begun(): Begun | null {
    const value = reading(() => metaOf.get('rotation') as Buffer | undefined, 'keys.db');
    if (value === undefined) return null;
    // An older version of Strongroom stored no time.
    const at = value.length < 16 ? null : numberIn(value.subarray(8));
    return { lastRow: numberIn(value), at };
  }

  /** Returns the tenant of each old wrapping key, by key id. */
  function oldOnes(): ReadonlyMap<string, string> {
    const rows = reading(
      () => oldWrapping.all(begun()?.lastRow ?? 0) as { readonly id: string; readonly tenant: string }[],
      'keys.db',
    );
    return new Map(rows.map(({ id, tenant }) => [id, tenant]));
  }

  async function mark(): Promise<number> {
    const before = begun();
    if (before !== null) return before.lastRow;
    // Threat: with a time later than the mark, a copy made in between would hold newer keys and still be declared void.
    const at = earliestNow(clock);
    const lastRow = reading(() => Number(lastTenantKey.get() ?? 0), 'keys.db');
    const value = Buffer.concat([numberBytes(lastRow), numberBytes(at)]);
    await writer.request('save_meta', { name: 'rotation', value });
    return lastRow;
  }

  async function makeNewerKeys(lastRow: number): Promise<void> {
    const lacking = [...new Set(oldOnes().values())].filter(
      (tenantId) => reading(() => hasNewer.get(tenantId, lastRow), 'keys.db') === undefined,
    );
    for (let start = 0; start < lacking.length; start += tenantsAtOnce) {
      const some = lacking.slice(start, start + tenantsAtOnce);
      await roots.wrapping((rootKey) =>
        writer.request(
          'insert_tenant_keys',
          some.map((tenantId) => tenants.make(rootKey, tenantId, 'wrapping', clock.now())),
        ),
      );
      for (const tenantId of some) tenants.rotated(tenantId);
    }
  }

  async function rewrapAll(rows: readonly LivingKey[]): Promise<readonly RewrappedKey[]> {
    const old = oldOnes();
    const newest = new Map<string, string>();
    for (const row of rows) {
      const tenantId = old.get(uuidText(row.tenant_key));
      if (tenantId === undefined || newest.has(tenantId)) continue;
      newest.set(tenantId, await wrapperFor(tenantId, stepSize));
    }
    return rows.flatMap((row) => rewrapped(row, old, newest));
  }

  /** Must not await: destroying a tenant zeroes its keys. */
  function rewrapped(
    row: LivingKey,
    old: ReadonlyMap<string, string>,
    newest: ReadonlyMap<string, string>,
  ): readonly RewrappedKey[] {
    const [id, from] = [uuidText(row.id), uuidText(row.tenant_key)];
    const tenantId = old.get(from);
    // The key is already rewrapped, or its wrapping key belongs to a tenant that is gone.
    if (tenantId === undefined) return [];
    const to = newest.get(tenantId) ?? '';
    const [fromKey, toKey] = [from, to].map((keyId) => tenants.wrappingKey(tenantId, keyId));
    if (!Buffer.isBuffer(fromKey) || !Buffer.isBuffer(toKey)) return [];
    const [under, over] = [
      { id: from, key: fromKey },
      { id: to, key: toKey },
    ];
    const wrapped = rewrapDataKey(under, over, row.wrapped, { tenantId, keyId: id });
    if (wrapped === null) throw new RotationRefused(unopened(`the data key ${id}`));
    return [{ id, wrapped, from, to }];
  }

  return {
    async isUnder(rootKey) {
      const check = reading(() => metaOf.get('root_check') as Buffer | undefined, 'keys.db');
      return check !== undefined && passesRootCheck(rootKey, check);
    },
    async begin() {
      await makeNewerKeys(await mark());
      return reading(() => Number(livingDataKeys.get()), 'keys.db');
    },
    async rewrap(afterSequence) {
      const rows = reading(() => dataKeysAfter.all(afterSequence) as LivingKey[], 'keys.db');
      const last = rows.at(-1);
      if (last === undefined) return null;
      const rewrapped = await rewrapAll(rows);
      if (rewrapped.length > 0) await writer.request('rewrap_data_keys', rewrapped);
      return { sequence: last.sequence, looked: rows.length };
    },
    async replaceRoot(next) {
      const retired = [...oldOnes().keys()];
      const ending = new Set(retired);
      const isReplaced = await roots.replace(next, async (rootKey) => {
        const living = reading(() => livingTenantKeys.all() as TenantKey[], 'keys.db');
        const tenantKeys = living
          .filter(({ id }) => !ending.has(id))
          .map((row) => {
            const wrapped = rewrapTenantKey(rootKey, next, row.wrapped, row);
            if (wrapped === null) throw new RotationRefused(unopened(`the ${row.purpose} key ${row.id}`));
            return { id: row.id, wrapped };
          });
        const generations = reading(
          () => livingGenerations.all() as { readonly generation: number; readonly wrapped: Buffer }[],
          'keys.db',
        );
        const generationKeys = generations.map((row) => {
          const wrapped = rewrapGenerationKey(rootKey, next, row.wrapped, row.generation);
          if (wrapped === null) throw new RotationRefused(unopened(`the search key of generation ${row.generation}`));
          return { generation: row.generation, wrapped };
        });
        return writer.request('replace_root', {
          ...{ tenantKeys, generationKeys, retired, rootCheck: newRootCheck(next) },
          ...{ at: clock.now(), voidBefore: begun()?.at ?? null },
        });
      });
      if (isReplaced) tenants.retired(retired);
      return isReplaced;
    },
    async voidBefore() {
      const value = reading(() => metaOf.get('copies_void_before') as Buffer | undefined, 'keys.db');
      return value === undefined ? null : numberIn(value);
    },
    async settle() {
      await writer.request('empty_keys_log', null);
    },
  };
}

function unopened(what: string): string {
  return `${what} does not open, so it cannot be rewrapped; nothing was removed. Restore keys.db from a backup.`;
}
