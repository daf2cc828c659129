import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runRebuild } from '#src/cli/projections/run-rebuild.js';
import { type RunOperation, runOperations } from '#src/cli/run-command.js';
import { loadConfig } from '#src/compose/config/config.js';
import { generous, openVault, rebuildIn, storedIn } from '../rebuild/support.js';
import {
  hashesOf,
  http,
  makeVault,
  run,
  runJson,
  spawnCommand,
  startService,
  type TestVault,
} from '../support/process.js';
import { wreckFile } from '../support/wreck-file.js';

async function filled(vault: TestVault, tokens: number): Promise<void> {
  const file = join(vault.dir, 'tokens.ndjson');
  const keyFile = join(vault.dir, 'key');
  writeFileSync(keyFile, vault.key, { mode: 0o600 });
  const line = (n: number) => `${JSON.stringify({ id: `id-${n}`, type: 'token', data: `value ${n}` })}\n`;
  writeFileSync(file, Array.from({ length: tokens }, (_, n) => line(n)).join(''));
  expect((await run(['tokens', 'import', file, '--api-key-file', keyFile, ...vault.flags])).code).toBe(0);
}

test('without a service, the command rebuilds, shows its progress, and removes the old rows before it ends', async () => {
  const vault = await makeVault();
  await filled(vault, 300);
  const dry = await run(['projections', 'rebuild', 'tokens', '--dry-run', ...vault.flags]);
  expect(dry).toMatchObject({ code: 0, stderr: '' });
  expect(dry.stdout).toMatch(/^tokens: reads the log up to position 3\d\d, writes 300 rows beside those in use/);
  expect(storedIn(vault.dataDir).generations).toEqual([{ generation: 1, state: 'read' }]);
  const { code, stdout } = await run(['projections', 'rebuild', '--all', '--yes', ...vault.flags]);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'rebuilt tokens\nrebuilt directory\nrebuilt shredder\nrebuilt days\nrebuilt vocabulary\n',
  });
  const stored = storedIn(vault.dataDir);
  expect(stored).toMatchObject({ generations: [{ generation: 2, state: 'read' }], rows: [300, 0], keys: [2] });
  expect(await run(['projections', 'rebuild', 'tokens', '--yes', '--json', ...vault.flags])).toMatchObject({
    stdout: expect.stringMatching(/^({"type":"progress".*\n)*{"type":"summary","rebuilt":"tokens"}\n$/),
  });
  const { projections } = await runJson(['projections', 'status', ...vault.flags, '--json']);
  expect(projections).toMatchObject([
    { name: 'tokens', version: 1, generation: 3, gap: 0, state: 'current', rebuild: null },
    { name: 'directory', version: 1, generation: null, gap: 0 },
    { name: 'shredder', version: 1 },
    { name: 'days', version: null, gap: 0, state: 'current' },
    { name: 'vocabulary', state: 'in memory' },
  ]);
  const table = (await run(['projections', 'status', ...vault.flags])).stdout.split('\n');
  expect(table[0]).toMatch(/^NAME +VERSION +GENERATION +POSITION +HEAD +STATUS +LAST REBUILD$/);
  expect(table[1]).toMatch(/^tokens +1 +3 +\d+ +\d+ +up to date +done$/);
  expect(table[2]).toMatch(/^directory .* not recorded$/);
});

test('without a service, the command reports that a file became damaged, and does not wait forever', async () => {
  const vault = await makeVault();
  await filled(vault, 300);
  const loaded = loadConfig({ env: {}, flags: { data: vault.dataDir, rootKeyFile: vault.rootKeyFile } });
  if (!loaded.ok) throw new Error('these settings must be valid');
  const rebuilt = runOperations(loaded.config, (run) => {
    const thenWreck: RunOperation = async (name, input) => {
      const answer = await run(name, input);
      if (name === 'projections-rebuild') wreckFile(join(vault.dataDir, 'journal.db'));
      return answer;
    };
    return runRebuild(thenWreck, 'tokens', { acceptNew: false, json: true });
  });
  await expect(rebuilt).rejects.toThrow('journal.db is damaged');
});

test('usage errors, repeated requests and pointless requests are explained, and nothing changes', async () => {
  const vault = await makeVault();
  const before = hashesOf(vault.dir);
  const refused = async (args: readonly string[], code: number, text: string) => {
    const ended = await run(['projections', ...args, ...vault.flags]);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(text);
  };
  await refused(
    ['rebuild', 'nothing', '--yes'],
    2,
    'there is no projection "nothing". The projections are: tokens, directory, shredder',
  );
  await refused(['cancel', 'nothing'], 2, 'there is no projection "nothing"');
  await refused(['rebuild', '--yes'], 2, 'specify either one projection or --all');
  await refused(['rebuild', 'tokens', '--all', '--yes'], 2, 'specify either one projection or --all');
  expect(hashesOf(vault.dir)).toEqual(before);
  await refused(['rebuild', 'tokens'], 2, 'add --yes to start, or --dry-run');
  await refused(['cancel', 'tokens'], 1, 'no rebuild of tokens is running');
  expect((await run(['projections', 'list'])).stdout).toMatch(/^NAME +DESCRIPTION\ntokens +the token rows/);
});

test('with a service, a rebuild that is killed midway continues at the next start, and callers notice nothing', async () => {
  const vault = await makeVault();
  await filled(vault, 2_000);
  const service = await startService(vault.flags);
  const verb = spawnCommand(['projections', 'rebuild', 'tokens', '--yes', ...vault.flags]);
  await vi.waitFor(() => expect(rebuildIn(vault.dataDir)?.position ?? 0).toBeGreaterThan(0), generous);
  await service.stop('SIGKILL');
  // A fast rebuild may already have switched to the new rows. If it has not, the command fails with a message about the
  // service.
  if (rebuildIn(vault.dataDir)?.phase === 'building') {
    expect(await verb.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('the service') });
  }
  expect(rebuildIn(vault.dataDir)).toMatchObject({ outcome: null });
  const again = await startService(vault.flags);
  const busy = await run(['projections', 'rebuild', 'tokens', '--yes', ...vault.flags]);
  // By now, the first rebuild may have finished. If it is still running, the vault rejects a second rebuild.
  if (busy.code === 1) expect(busy.stderr).toContain('a rebuild of tokens is already running');
  expect(await http('GET', `${again.address}/tokens/id-7`, { key: vault.key })).toMatchObject({ status: 200 });
  await vi.waitFor(() => expect(rebuildIn(vault.dataDir)?.phase).toBe('keeping'), generous);
  const list = await http('GET', `${again.address}/tokens?size=1`, { key: vault.key });
  expect(list.body).toMatchObject({ pagination: { total_items: 2_000 } });
  const late = await run(['projections', 'cancel', 'tokens', ...vault.flags]);
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('its rows are already in use') });
  expect((await again.stop()).code).toBe(0);
});

test('if rows differ, the command exits with code 3 and names their streams', async () => {
  const vault = await makeVault();
  await filled(vault, 20);
  const file = openVault(vault.dataDir);
  const stream = file.prepare('SELECT stream FROM token_rows_1 LIMIT 1').pluck().get() as Buffer;
  file.prepare('UPDATE token_rows_1 SET created_at = 5 WHERE stream = ?').run(stream);
  file.close();
  const { code, stdout, stderr } = await run(['projections', 'rebuild', 'tokens', '--yes', ...vault.flags]);
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toContain(
    `1 row differs between the log and the rows in use; nothing was changed. The first of them:\n  token-${stream.toString('hex')}\n`,
  );
  expect((await run(['projections', 'status', ...vault.flags])).stdout).toContain('1 row differed');
  const accepted = await run(['projections', 'rebuild', 'tokens', '--yes', '--accept-new', ...vault.flags]);
  expect(accepted).toMatchObject({ code: 0, stdout: 'rebuilt tokens\n' });
});
