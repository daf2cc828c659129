import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/**
 * Sends one delete request at a time, and measures the time from the request to the response. Also sends some delete
 * requests that are not measured. After each of these, checks that no file of the key store still contains the wrapped
 * bytes of the token's keys. `left` is the number of keys whose bytes are still there. A number above 0 indicates a
 * bug.
 */
export async function measureErasure({ vault, service, generator, fresh, count }) {
  const { keys, data, size: stored } = vault;
  const job = { origins: [service.origin], keys, connections: 1, from: 0, stored };
  const first = fresh(count);
  let left = 0;
  let checked = 0;
  for (let i = 0; i < count; i += 10) {
    await generator.run({ ...job, work: 'create to delete', count: 1, fresh: first + i });
    const before = living(data);
    await generator.run({ ...job, work: 'delete', count: 1, fresh: first + i });
    const contents = ['keys.db', 'keys.db-wal'].map((file) => contentOf(join(data, file)));
    const alive = new Set(living(data).map(({ id }) => id));
    for (const { wrapped } of before.filter(({ id }) => !alive.has(id))) {
      checked += 1;
      if (contents.some((content) => content.includes(wrapped))) left += 1;
    }
  }
  const from = fresh(count);
  await generator.run({ ...job, work: 'create to delete', connections: 16, count, fresh: from });
  const { p50, p95, p99 } = await generator.run({ ...job, work: 'delete', count, fresh: from });
  return { count, p50, p95, p99, checked, left };
}

/** Returns the newest keys that are not destroyed. They include the keys of the token that was just created. */
function living(data) {
  const db = new Database(join(data, 'keys.db'), { readonly: true });
  const keys = db
    .prepare(
      'SELECT hex(id) AS id, wrapped FROM data_keys WHERE destroyed_at = 140737488355327 ORDER BY sequence DESC LIMIT 5000',
    )
    .all();
  db.close();
  return keys;
}

function contentOf(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
