import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { describe, expect, test } from 'vitest';
import { never } from '#src/adapters/sqlite/database/keys-schema.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { http, jsonResult, makeVault, run, startService, type TestVault } from '../support/process.js';

type Found = { readonly check: string; readonly state: string; readonly says: string; readonly do?: string };

async function doctor(flags: readonly string[]) {
  const { code, stdout } = await run(['doctor', '--json', ...flags]);
  const { findings } = jsonResult({ stdout }) as { findings: Found[] };
  return { code, problems: findings.filter(({ state }) => state === 'problem') };
}

/** Creates a vault with three tokens, and leaves it stopped. */
async function vaultWithTokens(): Promise<TestVault> {
  const vault = await makeVault();
  const service = await startService(vault.flags);
  for (const data of ['a', 'b', 'c']) {
    const body = { type: 'token', data };
    expect(await http('POST', `${service.address}/tokens`, { key: vault.key, body })).toMatchObject({ status: 201 });
  }
  await service.stop();
  return vault;
}

/** Flips one bit in each living wrapped key that the condition selects. Returns the number of these keys. */
function flip({ dataDir }: TestVault, table: string, condition = 'true'): number {
  const database = pinStatements(join(dataDir, 'keys.db'), {});
  const rows = database
    .prepare(`SELECT rowid AS row, wrapped FROM ${table} WHERE destroyed_at = ${never} AND ${condition}`)
    .all() as { readonly row: number; readonly wrapped: Buffer }[];
  for (const { row, wrapped } of rows) {
    wrapped[30] = (wrapped[30] ?? 0) ^ 1;
    database.prepare(`UPDATE ${table} SET wrapped = ? WHERE rowid = ?`).run(wrapped, row);
  }
  database.close();
  return rows.length;
}

function change({ dataDir }: TestVault, sql: string): void {
  const database = pinStatements(join(dataDir, 'keys.db'), {});
  database.exec(sql);
  database.close();
}

/** Exchanges the wrapped bytes of the two oldest data keys. */
function swap({ dataDir }: TestVault): number {
  const database = pinStatements(join(dataDir, 'keys.db'), {});
  const rows = database
    .prepare(`SELECT rowid AS row, wrapped FROM data_keys WHERE destroyed_at = ${never} ORDER BY rowid LIMIT 2`)
    .all() as { readonly row: number; readonly wrapped: Buffer }[];
  const [first, second] = rows;
  const update = database.prepare('UPDATE data_keys SET wrapped = ? WHERE rowid = ?');
  update.run(second?.wrapped, first?.row);
  update.run(first?.wrapped, second?.row);
  database.close();
  return rows.length;
}

/** Flips a bit of the oldest living data key's id, either in its row or in the index over the ids. */
function flipId({ dataDir }: TestVault, where: 'row' | 'index'): void {
  const path = join(dataDir, 'keys.db');
  const idIn = (sql: string): Buffer => {
    const database = pinStatements(path, {});
    const id = database.prepare(sql).pluck().get() as Buffer;
    database.close();
    return id;
  };
  const inRow = `SELECT id FROM data_keys NOT INDEXED WHERE destroyed_at = ${never} ORDER BY sequence LIMIT 1`;
  const id = idIn(inRow);
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + 1)) {
    const damaged = Buffer.from(bytes);
    damaged[at + 7] = (damaged[at + 7] ?? 0) ^ 1;
    writeFileSync(path, damaged);
    if (idIn(inRow).equals(id) === (where === 'index')) return;
  }
  throw new Error(`the id ${id.toString('hex')} is not in the ${where}`);
}

async function backUp({ dir, flags }: TestVault) {
  const recipient = await identityToRecipient(await generateIdentity());
  const folder = join(dir, 'backup');
  const made = await run(['backup', folder, '--recipient', recipient, '--json', ...flags]);
  return { ...made, isComplete: existsSync(join(folder, 'manifest.json')) };
}

describe.each(['stopped', 'running'] as const)('in a vault that is %s', (state) => {
  /** Runs the checks on the vault in this state. */
  async function checked(vault: TestVault, damage: () => number) {
    const service = state === 'running' ? await startService(vault.flags) : null;
    const damaged = damage();
    const found = { damaged, ...(await doctor(vault.flags)), backup: await backUp(vault) };
    await service?.stop();
    return found;
  }

  test('doctor names the tokens whose data keys are damaged, and a backup is complete but has exit code 3', async () => {
    const vault = await vaultWithTokens();
    const { damaged, code, problems, backup } = await checked(vault, () => swap(vault));
    expect(damaged).toBe(2);
    expect(problems).toEqual([
      {
        check: 'lost keys',
        state: 'problem',
        says: expect.stringMatching(
          new RegExp(
            '^a key of 2 tokens is missing or damaged: ' +
              `token [^ ;]+ of tenant ${vault.tenantId}; token [^ ;]+ of tenant ${vault.tenantId}$`,
          ),
        ),
        do: expect.stringMatching(/^Restore the newest backup/),
      },
    ]);
    expect(code).toBe(3);
    expect(backup).toMatchObject({ code: 3, isComplete: true });
    expect(jsonResult(backup)).toMatchObject({ damaged_keys: 2 });
    expect(backup.stderr).toMatch(
      /^the backup is complete, but 2 keys are damaged and do not open: the data key [\da-f-]{36}; the data key /,
    );
  });
});

test('doctor names the token whose key has a damaged id, and the damaged row that a backup names', async () => {
  const vault = await vaultWithTokens();
  flipId(vault, 'row');
  const backup = await backUp(vault);
  expect(backup).toMatchObject({ code: 3, isComplete: true });
  const named = /does not open: (?<key>the data key [\da-f-]{36})\./.exec(backup.stderr)?.groups?.['key'];
  const { code, problems } = await doctor(vault.flags);
  expect(problems.map(({ says }) => says)).toEqual([
    `damaged: ${named}, which no event names`,
    expect.stringMatching(/^a key of 1 token is missing or damaged: token \S+ of tenant \S+$/),
  ]);
  expect(code).toBe(3);
});

test('doctor names the token whose key a lookup does not find, because the index over the ids is damaged', async () => {
  const vault = await vaultWithTokens();
  flipId(vault, 'index');
  const { code, problems } = await doctor(vault.flags);
  expect(problems.map(({ says }) => says)).toEqual([
    expect.stringMatching(/^a key of 1 token is missing or damaged: token \S+ of tenant \S+$/),
  ]);
  expect(code).toBe(3);
});

test('doctor and backups name damaged keys of tenants, of searches and of the vault, even while the service runs', async () => {
  const vault = await vaultWithTokens();
  const service = await startService(vault.flags);
  expect(flip(vault, 'generation_keys') + flip(vault, 'tenant_keys')).toBe(5);
  const keys = [
    'the search key of generation 1',
    'the integrity key of the vault',
    'the audit-signing key of the vault',
    `the wrapping key of tenant ${vault.tenantId}`,
    `the identity key of tenant ${vault.tenantId}`,
  ];
  const { code, problems } = await doctor(vault.flags);
  expect(problems.map(({ check }) => check)).toEqual(['lost keys']);
  for (const key of keys) expect(problems[0]?.says).toContain(key);
  expect(code).toBe(3);
  const backup = await backUp(vault);
  expect(backup).toMatchObject({ code: 3, isComplete: true });
  for (const key of keys) expect(backup.stderr).toContain(key);
  await service.stop();
});

test('a backup of a stopped vault is complete even if its search key and the keys of a tenant are damaged', async () => {
  const vault = await vaultWithTokens();
  expect(flip(vault, 'generation_keys') + flip(vault, 'tenant_keys', "tenant <> ''")).toBe(3);
  const backup = await backUp(vault);
  expect(backup).toMatchObject({ code: 3, isComplete: true });
  expect(backup.stderr).toContain('3 keys are damaged and do not open: ');
  for (const key of ['the search key of generation 1', `the wrapping key of tenant ${vault.tenantId}`])
    expect(backup.stderr).toContain(key);
});

test('a backup names damaged keys even if its time cannot be recorded', async () => {
  const vault = await vaultWithTokens();
  expect(swap(vault)).toBe(2);
  mkdirSync(join(vault.dataDir, 'last-backup.part'));
  const backup = await backUp(vault);
  expect(backup).toMatchObject({ code: 3, isComplete: true });
  expect(backup.stderr).toContain('2 keys are damaged and do not open: ');
  expect(backup.stderr).toContain('its time could not be recorded in the vault (EISDIR)');
});

test('a wrapping key whose row was removed counts as damage to its data keys, not as an erasure', async () => {
  const vault = await vaultWithTokens();
  change(vault, `DELETE FROM tenant_keys WHERE tenant = '${vault.tenantId}' AND purpose = 'wrapping'`);
  const backup = await backUp(vault);
  expect(backup).toMatchObject({ code: 3, isComplete: true });
  expect(Number(jsonResult(backup)['damaged_keys'])).toBeGreaterThanOrEqual(3);
  expect(backup.stderr).toContain('the data key ');
  const { code, problems } = await doctor(vault.flags);
  expect(code).toBe(3);
  expect(problems.map(({ says }) => says).join()).toContain('a key of 3 tokens is missing or damaged');
});

test.each([
  ['removed', (id: string) => `DELETE FROM tenant_keys WHERE tenant = '${id}' AND purpose = 'identity'`],
  [
    'assigned to a tenant that does not exist',
    (id: string) => `UPDATE tenant_keys SET tenant = 'unknown' WHERE tenant = '${id}' AND purpose = 'identity'`,
  ],
])('doctor and a backup name the identity key of a tenant whose row was %s', async (_, sql) => {
  const vault = await vaultWithTokens();
  change(vault, sql(vault.tenantId));
  const says = `the identity key of tenant ${vault.tenantId}, whose row is missing`;
  const { code, problems } = await doctor(vault.flags);
  expect(code).toBe(3);
  expect(problems.find(({ check }) => check === 'lost keys')?.says).toContain(says);
  const backup = await backUp(vault);
  expect(backup).toMatchObject({ code: 3, isComplete: true, stderr: expect.stringContaining(says) });
});

test('the damaged key of one tenant does not hide damaged data keys of another', async () => {
  const vault = await vaultWithTokens();
  const other = await run(['tenants', 'create', '--name', 'other', '--json', ...vault.flags]);
  expect(other).toMatchObject({ code: 0 });
  const service = await startService(vault.flags);
  expect(flip(vault, 'tenant_keys', `tenant NOT IN ('', '${vault.tenantId}')`)).toBe(2);
  expect(swap(vault)).toBe(2);
  const { code, problems } = await doctor(vault.flags);
  expect(code).toBe(3);
  expect(problems.map(({ says }) => says)).toEqual([
    expect.stringMatching(/^damaged: the (wrapping|identity) key of tenant /),
    expect.stringContaining('a key of 2 tokens is missing or damaged'),
  ]);
  const backup = await backUp(vault);
  expect(jsonResult(backup)).toMatchObject({ damaged_keys: 4 });
  await service.stop();
});

test('the data keys of a tenant whose keys were destroyed do not count as damaged', async () => {
  const vault = await vaultWithTokens();
  change(vault, `UPDATE tenant_keys SET destroyed_at = 1 WHERE tenant = '${vault.tenantId}'`);
  const backup = await backUp(vault);
  expect(backup).toMatchObject({ code: 0, isComplete: true });
});
