import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { hashesOf, makeVault, run, runJson, startService, tempDir } from '../support/process.js';

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };

async function vaultWithKey(isRunning: boolean) {
  const vault = await makeVault();
  const keyFile = join(vault.dir, 'app.key');
  writeFileSync(keyFile, `${vault.key}\n`, { mode: 0o600 });
  const service = isRunning ? await startService(vault.flags) : null;
  return { ...vault, keyFile, service, args: [...vault.flags, '--api-key-file', keyFile] };
}

describe.each([
  ['alone', false],
  ['through a running service', true],
])('%s', (_how, isRunning) => {
  test('a token is created from a file or standard input, is shown, is deleted, and is then gone', async () => {
    const { args, flags, dir, key, dataDir, service } = await vaultWithKey(isRunning);
    const stdin = JSON.stringify({ id: 'card-1', type: 'card', data: card });
    const created = await runJson(['tokens', 'create', ...args], { stdin });
    expect(created).toMatchObject({ id: 'card-1', type: 'card', data: card });
    const request = join(dir, 'request.json');
    writeFileSync(request, '{"type":"token","data":{"a":[1,null]}}');
    const second = await runJson(['tokens', 'create', '--file', request, '--api-key-file', '-', ...flags], {
      stdin: key,
    });
    expect(second['data']).toEqual({ a: [1, null] });

    expect(await runJson(['tokens', 'get', 'card-1', ...args])).toEqual(created);
    const shown = await run(['tokens', 'get', 'card-1', ...args]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain('\n  "id": "card-1"');

    expect(await run(['tokens', 'delete', 'card-1', ...args])).toMatchObject({ code: 0, stdout: 'deleted\n' });
    const again = await run(['tokens', 'delete', 'card-1', ...args]);
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/no such token/) });
    expect(await run(['tokens', 'get', 'card-1', ...args])).toMatchObject({ code: 1, stdout: '' });
    expect(await runJson(['tokens', 'delete', String(second['id']), ...args])).toEqual({ deleted: true });

    await service?.stop();
    for (const file of ['vault.db', 'keys.db'])
      expect(readFileSync(join(dataDir, file)).includes(card.number)).toBe(false);
  });

  test('control characters and right-to-left overrides in stored text are escaped', async () => {
    const { args } = await vaultWithKey(isRunning);
    const data = '\u009b2J\u007f\u001b]0;title\u0007\n\u202e4321\u2028';
    const stdin = JSON.stringify({ id: 'hostile', type: 'token', data });
    await runJson(['tokens', 'create', ...args], { stdin });
    for (const flag of [[], ['--json']]) {
      const { stdout } = await run(['tokens', 'get', 'hostile', ...flag, ...args]);
      expect(stdout.trim()).not.toMatch(/[^\P{Cc}\n]|[\u202e\u2028]/u);
      expect(JSON.parse(stdout)).toMatchObject({ data });
    }
  });

  test('a rejected request gives the reason, does not repeat any value, and stores nothing', async () => {
    const { args, flags, dir, managementKey, service } = await vaultWithKey(isRunning);
    await service?.stop();
    // The vault records when a key was last used. Both keys are used once here, so that the rejected requests below do
    // not change this record.
    await run(['tokens', 'get', 'first-use', ...args]);
    await run(['tokens', 'get', 'first-use', '--api-key-file', '-', ...flags], { stdin: managementKey });
    const before = contentsOf(dir);
    if (isRunning) await startService(flags);
    const latin1 = join(tempDir(), 'latin1.json');
    writeFileSync(latin1, '{"type":"token","data":"caf\xe9"}', 'latin1');
    const create = (stdin: string | Buffer) => run(['tokens', 'create', ...args], { stdin });
    const refusals = [
      [await create('{"type":"card","data":{"number":"4242424242424241"}}'), /^data\.number: /],
      [await create('{"type":"crd","data":"marker-7781"}'), /type: must be one of/],
      [await create('{"type":"token","data":"marker-7781"'), /^the request .*/],
      [await create('{"type":"token"}'), /data: is required/],
      [
        await create(Buffer.from('{"type":"token","data":"caf\xe9"}', 'latin1')),
        /^standard input is not UTF-8\. Save the request as UTF-8/,
      ],
      [
        await run(['tokens', 'create', '--file', latin1, ...args]),
        /latin1\.json is not UTF-8\. Save the request as UTF-8/,
      ],
      [await create(''), /^the request /],
      [await run(['tokens', 'get', 'marker-7781', ...args]), /no such token/],
      [await run(['tokens', 'get', 'an-id', '--api-key-file', '-', ...flags], { stdin: managementKey }), /token:read/],
      [
        await run(['tokens', 'get', 'an-id', '--api-key-file', '-', ...flags], { stdin: 'marker-7781' }),
        /must contain an API key .* nothing else/,
      ],
      [await run(['tokens', 'get', 'an-id', '--api-key-file', join(dir, 'none'), ...flags]), /ENOENT/],
    ] as const;
    for (const [ended, message] of refusals) {
      expect(ended, ended.stderr).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toMatch(message);
      expect(ended.stderr).not.toMatch(/marker-7781|4242424242424241|^\s+at /m);
    }
    if (!isRunning) expect(contentsOf(dir)).toEqual(before);
  });
});

/**
 * Returns the contents of a folder. Leaves out the values that differ from run to run:
 * - the access log, because it has an entry for a command that the application may not run
 * - the counters of sealed traces, because each process reserves a block of numbers in advance
 * - the minute in which a key was last used
 * - the journal position of the entry for that minute
 */
function contentsOf(dir: string) {
  const { 'data/keys.db': _keys, 'data/vault.db': _vault, 'data/journal.db': _journal, ...others } = hashesOf(dir);
  const files = Object.fromEntries(Object.entries(others).filter(([file]) => !file.startsWith('data/access-')));
  const vault = rowsOf(join(dir, 'data', 'vault.db'), ({ used_on: _, ...row }) => row);
  delete vault['applied'];
  return { files, vault, keys: rowsOf(join(dir, 'data', 'keys.db'), (row) => row) };
}

type Row = Readonly<Record<string, unknown>>;

function rowsOf(path: string, shown: (row: Row) => Row): Record<string, readonly Row[]> {
  const database = pinStatements(path, { readonly: true });
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all() as string[];
  const rows = tables.map((table): [string, readonly Row[]] => {
    const all = database.prepare(`SELECT * FROM "${table}"`).all() as Row[];
    return [table, all.filter((row) => !String(row['name']).startsWith('traces.')).map(shown)];
  });
  database.close();
  return Object.fromEntries(rows);
}
