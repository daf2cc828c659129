import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { openAuthenticStores } from '#src/compose/embedded/embedded-stores.js';
import { loadRootKey } from '#src/compose/root-key/root-key.js';
import {
  type Ended,
  http,
  makeVault,
  run,
  runJson,
  type Service,
  spawnService,
  startService,
  type TestVault,
  until,
} from '../support/process.js';

function change({ dataDir }: TestVault, file: string, sql: string): void {
  const database = pinStatements(join(dataDir, file), {});
  database.exec(sql);
  database.close();
}

/** Starts the service, and checks that it exits with this message. If it hangs, fails after the limit. */
async function expectFailedStart({ flags }: TestVault, message: RegExp): Promise<void> {
  const limitMs = 30_000;
  const { ended, stop } = spawnService(flags);
  const timer = setTimeout(() => void stop('SIGKILL'), limitMs);
  const { code, signal, stderr }: Ended = await ended;
  clearTimeout(timer);
  expect({ code, signal, stderr }).toEqual({ code: 1, signal: null, stderr: expect.stringMatching(message) });
  expect(stderr).not.toMatch(/^\s*at |Error\b|SQLITE_/m);
}

describe('the state of a file that another program changed', () => {
  test('prevents the start, and doctor reports the damage', async () => {
    const vault = await makeVault();
    change(vault, 'vault.db', 'DELETE FROM index_state_1');
    const problem = 'vault.db is damaged: the table index_state_1 lacks a row';
    await expectFailedStart(vault, new RegExp(`^${problem}.*restore the data directory from a backup\\.\n$`));
    const { code, stdout } = await run(['doctor', ...vault.flags]);
    expect(code).toBe(3);
    expect(stdout).toMatch(new RegExp(`PROBLEM +files +${problem}.*\n.*restore the data directory from a backup`));
  });

  test('keys.db: doctor reports the damage of a recorded revision', async () => {
    const vault = await makeVault();
    const service = await startService(vault.flags);
    const body = { type: 'token', data: 1 };
    expect(await http('POST', `${service.address}/tokens`, { key: vault.key, body })).toMatchObject({ status: 201 });
    await service.stop();
    change(vault, 'keys.db', `UPDATE data_keys SET revision = x''`);
    const { code, stdout, stderr } = await run(['doctor', ...vault.flags]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: 'found 1 problem.\n' });
    expect(stdout).toMatch(/PROBLEM +rows +keys\.db is damaged: .*from a backup/);
  });
});

describe('a damaged search key', () => {
  const damage = 'UPDATE generation_keys SET wrapped = randomblob(length(wrapped))';

  /** Creates a vault with a token that has the metadata `a: b`, and leaves it stopped. */
  async function vaultWithToken(): Promise<TestVault> {
    const vault = await makeVault();
    const service = await startService(vault.flags);
    const body = { type: 'token', data: 1, metadata: { a: 'b' } };
    expect(await http('POST', `${service.address}/tokens`, { key: vault.key, body })).toMatchObject({ status: 201 });
    await service.stop();
    return vault;
  }

  async function found({ address }: Pick<Service, 'address'>, key: string): Promise<unknown> {
    const { status, body } = await http('POST', `${address}/tokens/search`, { key, body: { query: 'metadata.a:b' } });
    expect(status).toBe(200);
    return (body['pagination'] as { total_items: number }).total_items;
  }

  test('that is in use prevents the start, and doctor reports it; commands that do not search still run', async () => {
    const vault = await vaultWithToken();
    change(vault, 'keys.db', damage);
    await expectFailedStart(vault, /^the search key of generation 1 .*restore the newest backup .*\n$/);
    const { code, stdout } = await run(['doctor', ...vault.flags]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/PROBLEM +lost keys +damaged: the search key of generation 1\n.*Restore the newest backup/);
    expect(await run(['audit', 'verify', ...vault.flags])).toMatchObject({ code: 0 });
  });

  test.each(['unused', 'building'] as const)('of a generation that is %s does not prevent the start', async (state) => {
    const vault = await vaultWithToken();
    const generation = await addGeneration(vault, state);
    change(vault, 'keys.db', `${damage} WHERE generation = ${generation}`);
    const { code, stdout } = await run(['doctor', ...vault.flags]);
    expect(code).toBe(3);
    expect(stdout).toMatch(new RegExp(`PROBLEM +lost keys +damaged: the search key of generation ${generation}\\n`));
    const service = await startService(vault.flags);
    expect(await found(service, vault.key)).toBe(1);
    // The rebuild fails and removes its generation. Until then, every change of a token fails.
    const body = { type: 'token', data: 2 };
    await until('the end of the rebuild', 30_000, async () => {
      const { status } = await http('POST', `${service.address}/tokens`, { key: vault.key, body });
      return status === 201 ? status : undefined;
    });
    expect((await service.stop()).stdout).toContain(`the search key of generation ${generation} is damaged`);
  });

  test('of a generation that is building is removed by `projections cancel`', async () => {
    const vault = await vaultWithToken();
    const generation = await addGeneration(vault, 'building');
    change(vault, 'keys.db', `${damage} WHERE generation = ${generation}`);
    expect(await run(['projections', 'cancel', 'tokens', ...vault.flags])).toMatchObject({ code: 0 });
    expect(await run(['doctor', ...vault.flags])).toMatchObject({ code: 0 });
  });
});

/**
 * Leaves a generation as a process that was killed leaves it: with only a key, or with a rebuild that builds it. Returns
 * its number.
 */
async function addGeneration({ dataDir, rootKeyFile }: TestVault, state: 'unused' | 'building'): Promise<number> {
  const fail = (error: unknown) => {
    throw error;
  };
  const loaded = await loadRootKey({ file: rootKeyFile, dataDir });
  if (!loaded.ok) throw new Error(loaded.message);
  const { keys, generations, close } = await openAuthenticStores(dataDir, loaded.key, { now: () => Date.now() }, fail);
  const generation = await keys.createGeneration();
  if (state === 'building') {
    const begun = await generations.begin({
      generation,
      from: 1,
      phase: 'building',
      position: 0,
      head: 0,
      startedAt: Date.now(),
      swappedAt: null,
      acceptNew: false,
      outcome: null,
      different: 0,
      examples: [],
      rate: null,
    });
    expect(begun).toBe(true);
  }
  await close();
  return generation;
}

describe('a directory row that another program changed', () => {
  test('prevents the start, which names the row, until the directory is rebuilt', async () => {
    const vault = await makeVault();
    change(vault, 'vault.db', `UPDATE directory SET mac = zeroblob(32) WHERE kind = 'tenant'`);
    const row = `the row of tenant ${vault.tenantId} in vault.db`;
    await expectFailedStart(
      vault,
      new RegExp(`^${row} is not authentic: .*\`strongroom projections rebuild directory\`, and start again\\.\n$`),
    );
    const { code, stdout } = await run(['doctor', ...vault.flags]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/PROBLEM +rows +the row of tenant \S+ is not authentic\n.*projections rebuild/);
    expect(stdout).toMatch(/ok +search index/);
    const rebuilt = await run(['projections', 'rebuild', 'directory', '--yes', ...vault.flags]);
    expect(rebuilt).toMatchObject({ code: 0 });
    await (await startService(vault.flags)).stop();
  });

  test('prevents the start if the key store recorded a newer version than the log contains', async () => {
    const vault = await makeVault();
    change(vault, 'keys.db', 'UPDATE directory_revisions SET revision = 99999');
    await expectFailedStart(
      vault,
      new RegExp(`^the row of tenant ${vault.tenantId} in vault.db is older .*Then restore the newest backup\\.\n$`),
    );
  });
});

test('recorded revisions of the directory that were removed are reported by doctor, as by audit verify', async () => {
  const vault = await makeVault();
  const { key } = vault;
  const service = await startService(vault.flags);
  const created = await http('POST', `${service.address}/tokens`, { key, body: { type: 'token', data: 1 } });
  // Once a key was destroyed, a start does not read the older events again and so records no older revisions.
  expect(await http('DELETE', `${service.address}/tokens/${created.body['id']}`, { key })).toMatchObject({
    status: 204,
  });
  await service.stop();
  change(vault, 'keys.db', 'DELETE FROM directory_revisions');
  const row = `the row of tenant ${vault.tenantId} is an older version`;
  const verified = await run(['audit', 'verify', ...vault.flags]);
  expect(verified).toMatchObject({ code: 3, stderr: expect.stringContaining(row) });
  const { code, stdout } = await run(['doctor', ...vault.flags]);
  expect(stdout).toMatch(new RegExp(`PROBLEM +rows +.*${row}`));
  expect(stdout).not.toMatch(/ok +rows/);
  expect(code).toBe(3);
});

test('commands on data that lost vault.db report the loss, and do not advise to create a new vault', async () => {
  const vault = await makeVault();
  const lost = join(vault.dataDir, 'vault.db');
  for (const suffix of ['', '-wal', '-shm']) rmSync(lost + suffix, { force: true });
  for (const verb of [['doctor'], ['audit', 'verify']]) {
    const { stdout, stderr } = await run([...verb, ...vault.flags]);
    expect(stdout + stderr).toContain('vault.db is missing or empty, but keys.db is in use. Restore it from a backup.');
    expect(stdout + stderr).not.toContain('strongroom init');
  }
  expect(existsSync(lost)).toBe(false);
});

test('a command creates no vault next to an empty keys.db', async () => {
  const vault = await makeVault();
  for (const file of readdirSync(vault.dataDir)) rmSync(join(vault.dataDir, file), { recursive: true });
  writeFileSync(join(vault.dataDir, 'keys.db'), '');
  const { code, stderr } = await run(['tenants', 'list', ...vault.flags]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('there is no vault in') });
  expect(readdirSync(vault.dataDir)).toEqual(['keys.db']);
});

test('a directory that holds only the journal of a vault is rejected, and gets no new stores', async () => {
  const vault = await makeVault();
  for (const file of ['vault.db', 'keys.db'])
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(vault.dataDir, file + suffix), { force: true });
  await expectFailedStart(vault, /vault\.db and keys\.db are missing or empty, but journal\.db is in use\./);
  expect(existsSync(join(vault.dataDir, 'keys.db'))).toBe(false);
});

test('a service that creates a new vault says so, because the volume with the data may not be mounted', async () => {
  const vault = await makeVault();
  const empty = join(vault.dir, 'not-mounted');
  const warning = `created a new, empty vault in ${empty}. If your data should be there`;
  const flags = ['--data', empty, '--root-key-file', vault.rootKeyFile];
  const first = await startService(flags);
  expect((await first.stop()).stdout).toContain(warning);
  const second = await startService(flags);
  expect((await second.stop()).stdout).not.toContain('created a new');
});

describe('the lock file', () => {
  test('is free, but a service answers on the control socket: a second service does not start', async () => {
    const vault = await makeVault();
    const server = createServer((socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => server.listen(join(vault.dataDir, 'control.sock'), resolve));
    onTestFinished(() => void server.close());
    await expectFailedStart(vault, /^another Strongroom process uses .*Stop it first/);
  });

  test('is free, and the control socket of a killed service is left over: a service starts', async () => {
    const { flags } = await makeVault();
    await (await startService(flags)).stop('SIGKILL');
    await (await startService(flags)).stop();
  });

  test.each([
    ['removed', (path: string) => rmSync(path)],
    [
      'replaced',
      (path: string) => {
        writeFileSync(`${path}.new`, '');
        renameSync(`${path}.new`, path);
      },
    ],
  ])('is %s while a service runs: the service stops, because another one could start', async (_what, act) => {
    const { dataDir, flags } = await makeVault();
    const service = await startService(flags);
    act(join(dataDir, 'lock'));
    const { code, stderr } = await service.ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/\/lock was removed or replaced .*no other process uses .*start again\.\n$/),
    });
    await (await startService(flags)).stop();
  });
});

test('a killed service starts again while another program, such as a backup, reads its files', async () => {
  const vault = await makeVault();
  const service = await startService(vault.flags);
  const body = { id: 'newest', type: 'token', data: 'value' };
  expect(await http('POST', `${service.address}/tokens`, { key: vault.key, body })).toMatchObject({ status: 201 });
  await service.stop('SIGKILL');
  for (const file of ['vault.db', 'keys.db', 'journal.db']) {
    const reader = pinStatements(join(vault.dataDir, file), { readonly: true });
    onTestFinished(() => void reader.close());
    reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema;');
  }
  const again = await startService(vault.flags);
  const url = `${again.address}/tokens`;
  expect(await http('GET', `${url}/newest`, { key: vault.key })).toMatchObject({ status: 200 });
  expect(await http('POST', url, { key: vault.key, body: { ...body, id: 'next' } })).toMatchObject({ status: 201 });
  await again.stop();
});

describe('a file that cannot be opened', () => {
  test('because of a limit on file sizes: the start does not say that the disk is full', async () => {
    const { flags } = await makeVault();
    // Without the trap, the signal XFSZ would end a process that exceeds the limit.
    const through = ['sh', '-c', `trap '' XFSZ && ulimit -f 30 && exec "$0" "$@"`];
    const { code, stderr } = await run(['serve', '--port', '0', ...flags], { through });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^the disk under \S+ has free space but accepts no data\. .*\(`ulimit -f`\)/),
    });
  });
});

describe('a tenant whose row or keys another program damaged', () => {
  test.each([
    ['vault.db', `UPDATE directory SET mac = zeroblob(32) WHERE kind = 'tenant' AND id = `, 'is not authentic'],
    ['keys.db', 'UPDATE tenant_keys SET wrapped = zeroblob(60) WHERE tenant = ', 'does not open'],
  ])('while the service runs (%s): it stops in order, and does not start again', async (file, sql, says) => {
    const vault = await makeVault();
    const service = await startService(vault.flags);
    change(vault, file, `${sql}'${vault.tenantId}'`);
    const { code, stdout } = await service.stop();
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('"msg":"stopped"') });
    expect(readdirSync(vault.dataDir).filter((name) => name.endsWith('-wal'))).toEqual([]);
    await expectFailedStart(vault, new RegExp(`tenant ${vault.tenantId} in ${file} ${says}`));
  });

  test.each(['alone', 'through a running service'])(
    'does not matter for commands about other tenants: %s',
    async (how) => {
      const vault = await makeVault();
      const other = await runJson(['tenants', 'create', '--name', 'other', ...vault.flags]);
      if (how !== 'alone') await startService(vault.flags);
      change(
        vault,
        'vault.db',
        `UPDATE directory SET mac = zeroblob(32) WHERE kind = 'tenant' AND id = '${vault.tenantId}'`,
      );
      const listed = await run(['tenants', 'list', '--json', ...vault.flags]);
      const row = `the row of tenant ${vault.tenantId} is not authentic`;
      expect(listed).toMatchObject({ code: 1, stderr: expect.stringContaining(`is left out: ${row}`) });
      expect(JSON.parse(listed.stdout)).toEqual({ tenants: [{ tenant_id: other['tenant_id'], name: 'other' }] });
      const tenant = ['--tenant', String(other['tenant_id'])];
      expect(await run(['applications', 'list', ...tenant, ...vault.flags])).toMatchObject({ code: 0 });
    },
  );
});
