import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonResult, run, runJson, tempDir } from '../support/process.js';

/** A user that `/etc/passwd` does not name. */
const service = 10_001;
/** The age recipient of the documentation's examples. */
const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

/** Creates a vault as `scripts/install.sh` and `strongroom init` do: its directories belong to the service's user. */
async function installed() {
  const dir = tempDir();
  chmodSync(dir, 0o755);
  const [dataDir, settings, closed] = [join(dir, 'data'), join(dir, 'settings'), join(dir, 'closed')];
  for (const path of [dataDir, settings, closed]) mkdirSync(path, { mode: 0o700 });
  for (const path of [dataDir, settings]) chownSync(path, service, service);
  const rootKeyFile = join(settings, 'root.key');
  await run(['keys', 'generate-root', rootKeyFile], { uid: service });
  const flags = ['--data', dataDir, '--root-key-file', rootKeyFile];
  const managementKey = String((await runJson(['init', ...flags], { uid: service }))['management_key']);
  return { dir, dataDir, settings, rootKeyFile, flags, closed, managementKey };
}

type Found = { readonly check: string; readonly state: string; readonly says: string };

async function problemsOf(args: readonly string[], options: { readonly uid?: number; readonly cwd?: string }) {
  const { stdout, stderr } = await run(['doctor', '--json', ...args], options);
  expect(stderr).toMatch(/^found \d+ problems?\.\n$/);
  const { findings } = jsonResult({ stdout }) as { readonly findings: readonly Found[] };
  return findings.filter(({ state }) => state === 'problem').map(({ check, says }) => [check, says] as const);
}

describe.runIf(process.getuid?.() === 0)(
  'a command that another user than the service’s user runs (needs root)',
  () => {
    test('advises first to run it as the service’s user, and doctor reports each directory once', async () => {
      const { dataDir, settings, flags } = await installed();
      const advice = `which belongs to another user. If Strongroom runs as the user ${service}, run this command as that user: \`sudo -u '#${service}' strongroom …\`. Otherwise, check`;
      expect(await run(['projections', 'status', ...flags])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`${settings}, ${advice}`),
      });
      expect(await problemsOf(flags, {})).toEqual([
        ['root key', expect.stringContaining(`${settings}, ${advice}`)],
        ['data directory', expect.stringContaining(`${dataDir}, ${advice}`)],
        ['stores', 'the stores could not be opened'],
      ]);
      chownSync(settings, 0, 0);
      expect((await run(['projections', 'status', ...flags])).stderr).toContain(
        `root.key belongs to another user. If Strongroom runs as the user ${service}, run this command as that user`,
      );
    });

    test('names the service’s user if the machine knows the name', async () => {
      const { settings, flags } = await installed();
      chownSync(settings, 1, 1);
      const { stderr } = await run(['projections', 'status', ...flags]);
      expect(stderr).toContain('run this command as that user: `sudo -u daemon strongroom …`.');
    });
  },
);

describe.runIf(process.getuid?.() === 0)(
  'in a working directory that the service’s user may not search (needs root)',
  () => {
    test('a backup, a list of erased keys, a bundle and an export report that they cannot be written', async () => {
      const { dir, flags, closed, managementKey } = await installed();
      const options = { uid: service, cwd: closed };
      const file = join(dir, 'key');
      writeFileSync(file, managementKey);
      const writes = [
        ['backup', 'monday', '--recipient', recipient],
        ['backup', 'monday', '--erased-only'],
        ['audit', 'bundle', '--from', '2026-01-01', '--to', '2099-01-01', '--out', 'monday', '--api-key-file', file],
        ['audit', 'export', '--out', 'monday'],
      ];
      for (const args of writes) {
        const ended = await run([...args, ...flags], options);
        const text = 'monday cannot be written (EACCES). Run this command as a user that may write there';
        expect(ended, args.join(' ')).toMatchObject({ code: 1, stderr: expect.stringContaining(text) });
      }
      expect(readdirSync(closed)).toEqual([]);
    });

    test('doctor reports that the data directory cannot be looked up, not that it is missing', async () => {
      const { closed, rootKeyFile } = await installed();
      const text = `the data directory ${closed}/data cannot be looked up: this user may not search ${closed}.`;
      expect(await problemsOf(['--root-key-file', rootKeyFile], { uid: service, cwd: closed })).toEqual([
        ['data directory', expect.stringContaining(text)],
        ['stores', 'the stores could not be opened'],
      ]);
      const unread = await problemsOf(['--root-key-file', 'root.key'], { uid: service, cwd: closed });
      expect(unread.map(([check]) => check)).toEqual(['root key', 'data directory', 'stores']);
      const status = await run(['projections', 'status', '--root-key-file', rootKeyFile], {
        uid: service,
        cwd: closed,
      });
      expect(status).toMatchObject({ code: 1, stderr: expect.stringContaining(text) });
    });
  },
);
