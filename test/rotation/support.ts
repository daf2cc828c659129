import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { uuidText } from '#src/adapters/sqlite/database/uuid-bytes.js';
import type { TenantKeyPurpose } from '#src/ports/key-store.js';
import { http, type TestVault } from '../support/process.js';

export type TenantKeyRow = {
  readonly id: string;
  readonly tenant: string;
  readonly purpose: TenantKeyPurpose;
  readonly wrapped: Buffer;
};
export type DataKeyRow = { readonly id: string; readonly tenantKeyId: string; readonly wrapped: Buffer };

/**
 * Returns the wrapped keys in a key store, except for destroyed keys. The key store is read through a separate
 * connection.
 */
export function wrapsIn(dataDir: string) {
  const database = pinStatements(join(dataDir, 'keys.db'), { readonly: true, timeout: 5_000 });
  const living = <T>(sql: string) =>
    (database.prepare(sql).all() as (T & { readonly wrapped: Buffer })[]).filter(({ wrapped }) =>
      wrapped.some((byte) => byte !== 0),
    );
  try {
    return {
      tenantKeys: living<TenantKeyRow>('SELECT id, tenant, purpose, wrapped FROM tenant_keys'),
      generationKeys: living<{ generation: number }>('SELECT generation, wrapped FROM generation_keys'),
      dataKeys: living<{ id: Buffer; tenant_key: Buffer }>('SELECT id, tenant_key, wrapped FROM data_keys').map(
        ({ id, tenant_key, wrapped }): DataKeyRow => ({ id: uuidText(id), tenantKeyId: uuidText(tenant_key), wrapped }),
      ),
    };
  } finally {
    database.close();
  }
}

export function rootKeyIn(file: string): Buffer {
  return Buffer.from(readFileSync(file, 'utf8').trim(), 'hex');
}

/** Creates this many tokens, and returns their values by id. */
export async function fill(
  address: string,
  { key }: Pick<TestVault, 'key'>,
  count: number,
): Promise<Map<string, string>> {
  const made = new Map<string, string>();
  let next = 0;
  const caller = async () => {
    while (next < count) {
      next += 1;
      const data = `value ${next}`;
      const { status, body, text } = await http('POST', `${address}/tokens`, { key, body: { type: 'token', data } });
      if (status !== 201) throw new Error(text);
      made.set(String(body['id']), data);
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  return made;
}

/** Returns the ids of the tokens whose reads do not return the expected value. */
export async function unread(address: string, key: string, made: ReadonlyMap<string, string>): Promise<string[]> {
  const wrong: string[] = [];
  const left = [...made];
  const caller = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      const { status, body, text } = await http('GET', `${address}/tokens/${one[0]}`, { key });
      if (status !== 200 || body['data'] !== one[1]) wrong.push(`${one[0]}: ${status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  return wrong;
}
