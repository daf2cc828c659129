import type { RewrappedDataKey } from '../../../ports/key-store.js';
import { never } from '../database/keys-schema.js';
import { numberBytes } from '../database/number-bytes.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { noEventBytes, uuidBytes, uuidText } from '../database/uuid-bytes.js';
import type { NewRoot } from './protocol.js';

/**
 * Creates the operations on `keys.db` for a rotation. These operations overwrite existing keys in place with the same
 * number of bytes. They never change a destroyed key and never add a key.
 */
export function createRotationOperations(database: SqliteDatabase) {
  const rewrapDataKey = database.prepare(
    `UPDATE data_keys SET tenant_key = ?, wrapped = ? WHERE id = ? AND tenant_key = ? AND destroyed_at = ${never}`,
  );
  const countWraps = database.prepare(
    `INSERT INTO wraps (tenant_key, count) VALUES (?, 1) ON CONFLICT (tenant_key) DO UPDATE SET count = count + 1`,
  );
  const livingTenantKeys = database.prepare(`SELECT id FROM tenant_keys WHERE destroyed_at = ${never}`).pluck();
  const livingGenerations = database
    .prepare(`SELECT generation FROM generation_keys WHERE destroyed_at = ${never}`)
    .pluck();
  const keysThatWrap = database
    .prepare(`SELECT DISTINCT tenant_key FROM data_keys WHERE destroyed_at = ${never}`)
    .pluck();
  const rewrapTenantKey = database.prepare(
    `UPDATE tenant_keys SET wrapped = ? WHERE id = ? AND destroyed_at = ${never}`,
  );
  const rewrapGenerationKey = database.prepare(
    `UPDATE generation_keys SET wrapped = ? WHERE generation = ? AND destroyed_at = ${never}`,
  );
  const retireTenantKey = database.prepare(
    `UPDATE tenant_keys SET wrapped = zeroblob(length(wrapped)), destroyed_at = ?, destroyed_by = ?
     WHERE id = ? AND destroyed_at = ${never}`,
  );
  const saveRootCheck = database.prepare(`UPDATE meta SET value = ? WHERE name = 'root_check'`);
  const saveVoidBefore = database.prepare(
    `INSERT INTO meta (name, value) VALUES ('copies_void_before', ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  );
  const endRotation = database.prepare(`DELETE FROM meta WHERE name = 'rotation'`);

  /**
   * Returns true if the input contains every living key under the old root key, and no retired key still wraps a data
   * key.
   */
  function isWhole({ tenantKeys, generationKeys, retired }: NewRoot): boolean {
    const ending = new Set(retired);
    const named = new Set([...tenantKeys.map(({ id }) => id), ...retired]);
    const generations = new Set(generationKeys.map(({ generation }) => generation));
    return (
      (livingTenantKeys.all() as string[]).every((id) => named.has(id)) &&
      (livingGenerations.all() as number[]).every((generation) => generations.has(generation)) &&
      !(keysThatWrap.all() as Buffer[]).some((id) => ending.has(uuidText(id)))
    );
  }

  return {
    rewrap_data_keys(keys: readonly RewrappedDataKey[]): null {
      for (const { id, wrapped, from, to } of keys) {
        const { changes } = rewrapDataKey.run(uuidBytes(to), wrapped, uuidBytes(id), uuidBytes(from));
        if (changes > 0) countWraps.run(to);
      }
      return null;
    },
    replace_root(root: NewRoot): boolean {
      if (!isWhole(root)) return false;
      for (const { id, wrapped } of root.tenantKeys) rewrapTenantKey.run(wrapped, id);
      for (const { generation, wrapped } of root.generationKeys) rewrapGenerationKey.run(wrapped, generation);
      for (const id of root.retired) retireTenantKey.run(root.at, noEventBytes, id);
      saveRootCheck.run(root.rootCheck);
      if (root.voidBefore !== null) saveVoidBefore.run(numberBytes(root.voidBefore));
      endRotation.run();
      return true;
    },
    empty_keys_log: (): null => null,
  };
}
