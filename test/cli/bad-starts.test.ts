import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import {
  type Ended,
  hashesOf,
  http,
  makeRootKey,
  makeVault,
  type RunOptions,
  run,
  startService,
  type TestVault,
  tempDir,
} from '../support/process.js';

/** Leaves out SQLite's shared-memory files and the lock files, which contain no data. */
function withoutTraces(hashes: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(hashes).filter(([file]) => !/-shm$|lock$/.test(file)));
}

/** Checks that `serve` exits with this code, prints advice and changes no file. */
async function expectRefusal(
  dir: string,
  args: readonly string[],
  message: RegExp,
  code = 1,
  options: RunOptions = {},
): Promise<Ended> {
  const before = withoutTraces(hashesOf(dir));
  const ended = await run(['serve', '--port', '0', ...args], options);
  expect(ended.stderr).toMatch(message);
  expect(ended).toMatchObject({ code, signal: null, stdout: '' });
  expect(ended.stderr, 'one or more sentences, no stack').not.toMatch(/^\s+at |Error:|SQLITE_(?!IOERR)/m);
  expect(withoutTraces(hashesOf(dir))).toEqual(before);
  return ended;
}

/** Returns the name of a file in the data directory. `access log` stands for the month that the vault has. */
function fileNamed({ dataDir }: TestVault, name: string): string {
  if (name !== 'access log') return name;
  const month = readdirSync(dataDir).find((file) => /^access-[\d-]+\.db$/.test(file));
  if (month === undefined) throw new Error('the vault has no month of the access log');
  return month;
}

/** Adds a number to the format number of a file. */
function changeFormat({ dataDir }: TestVault, file: string, by: number): void {
  const database = pinStatements(join(dataDir, file), {});
  const stored = Number(database.pragma('user_version', { simple: true }));
  database.pragma(`user_version = ${stored + by}`);
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

/** Checks that the service still starts and works. */
async function expectAsBefore({ flags, key }: TestVault): Promise<void> {
  const service = await startService(flags);
  const { status } = await http('POST', `${service.address}/tokens`, { key, body: { type: 'token', data: 1 } });
  expect(status).toBe(201);
  expect(await service.stop()).toMatchObject({ code: 0 });
}

/** Returns a vault with every file that a service creates. Only the owner can read the files. */
async function makeServedVault(): Promise<TestVault> {
  const vault = await makeVault();
  await expectAsBefore(vault);
  for (const file of readdirSync(vault.dataDir)) chmodSync(join(vault.dataDir, file), 0o600);
  return vault;
}

/** Returns the output of `doctor`. */
async function runDoctor(flags: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(['doctor', ...flags]);
  return `${stdout}${stderr}`;
}

describe('a root key', () => {
  test('of another vault is rejected', async () => {
    const vault = await makeVault();
    const other = makeRootKey(tempDir());
    await expectRefusal(
      vault.dir,
      ['--data', vault.dataDir, '--root-key-file', other],
      /root key does not open keys\.db.*Set root_key_file/,
    );
    await expectAsBefore(vault);
  });

  test('that is missing: for new data, the message names the command that creates a key, and that command works', async () => {
    const { dir, dataDir } = await makeVault();
    const { stderr } = await expectRefusal(
      dir,
      ['--data', join(dir, 'new')],
      /no root key.*strongroom keys generate-root FILE.*STRONGROOM_ROOT_KEY_FILE/,
    );
    const words = /`strongroom ([a-z -]+) FILE`/.exec(stderr)?.[1]?.split(' ') ?? [];
    expect(await run([...words, join(dir, 'new.key')])).toMatchObject({ code: 0 });
    const missing = join(dir, 'missing.key');
    await expectRefusal(
      dir,
      ['--data', join(dir, 'new'), '--root-key-file', missing],
      /missing\.key does not exist.*generate-root/,
    );
    // A new key cannot open existing data, so the message does not name the command.
    const { stderr: lost } = await expectRefusal(
      dir,
      ['--data', dataDir, '--root-key-file', missing],
      /missing\.key does not exist\. The data in .* can be opened only with the root key of its vault.*Put a copy/,
    );
    expect(lost).not.toContain('generate-root');
  });

  test('that is missing: for existing data, the message asks for the existing key, because a new key opens nothing', async () => {
    const { dir, dataDir } = await makeVault();
    const create = ['applications', 'create', '--name', 'a', '--type', 'public', '--permissions', 'token:create'];
    for (const [args, service] of [
      [['serve', '--port', '0'], false],
      [['init'], false],
      [create, true],
      [['audit', 'verify'], true],
      [['backup', join(dir, 'erased.txt'), '--erased-only'], true],
    ] as const) {
      const { code, stderr } = await run([...args, '--data', dataDir]);
      expect([code, stderr], args.join(' ')).toEqual([
        1,
        expect.stringMatching(
          /no root key is set.*The data in .* can be opened only with the root key.*--root-key-file/,
        ),
      ]);
      expect(stderr, args.join(' ')).not.toContain('generate-root');
      expect(stderr.includes('While the service is running'), args.join(' ')).toBe(service);
    }
  });

  test('that is missing for a data directory that does not exist: the directory is not created', async () => {
    const dir = tempDir();
    await expectRefusal(dir, ['--data', join(dir, 'data')], /no root key/);
    expect(statSync(join(dir, 'data'), { throwIfNoEntry: false })).toBeUndefined();
  });

  test.each([0o644, 0o640])('in a file with mode %o is rejected', async (mode) => {
    const vault = await makeVault();
    chmodSync(vault.rootKeyFile, mode);
    await expectRefusal(vault.dir, vault.flags, /accessible to its owner only.*chmod 600/);
    execFileSync('chmod', ['600', vault.rootKeyFile]);
    if (mode === 0o644) await expectAsBefore(vault);
  });

  test('inside the data directory, even through a link, is rejected', async () => {
    const { dir, dataDir, rootKeyFile } = await makeVault();
    copyFileSync(rootKeyFile, join(dataDir, 'root.key'));
    chmodSync(join(dataDir, 'root.key'), 0o600);
    await expectRefusal(
      dir,
      ['--data', dataDir, '--root-key-file', join(dataDir, 'root.key')],
      /inside the data directory.*Move it/,
    );
    execFileSync('ln', ['-s', join(dataDir, 'root.key'), join(dir, 'link.key')]);
    await expectRefusal(
      dir,
      ['--data', dataDir, '--root-key-file', join(dir, 'link.key')],
      /inside the data directory.*Move it/,
    );
  });

  test.each([`${'a'.repeat(65)}\n`])('in a file with other content is rejected', async (text) => {
    const { dir, flags, rootKeyFile } = await makeVault();
    writeFileSync(rootKeyFile, text);
    const { stderr } = await expectRefusal(dir, flags, /does not contain a root key.*Restore the right file/);
    expect(stderr).not.toContain('aaaa');
  });

  test('in an environment variable is rejected', async () => {
    const { dir, dataDir } = await makeVault();
    const env = { STRONGROOM_ROOT_KEY: 'ab'.repeat(32) };
    const { stderr } = await expectRefusal(
      dir,
      ['--data', dataDir],
      /STRONGROOM_ROOT_KEY: .*STRONGROOM_ROOT_KEY_FILE/,
      2,
      { env },
    );
    expect(stderr).not.toContain('abab');
  });

  test('from a command that fails is rejected', async () => {
    const { dir, dataDir } = await makeVault();
    const env = { STRONGROOM_ROOT_KEY_COMMAND: '["false","marker-9"]' };
    const { stderr } = await expectRefusal(dir, ['--data', dataDir], /root_key_command ended with status 1/, 1, {
      env,
    });
    expect(stderr).not.toContain('marker-9');
  });
});

describe('the store files', () => {
  function overwrite(file: string, position: number, sizeBytes: number): void {
    const descriptor = openSync(file, 'r+');
    writeSync(descriptor, randomBytes(sizeBytes), 0, sizeBytes, position);
    closeSync(descriptor);
  }

  const faults: readonly (readonly [string, (file: string) => void])[] = [
    ['a damaged header', (file) => overwrite(file, 0, 100)],
    ['a damaged middle', (file) => overwrite(file, Math.floor(statSync(file).size / 8192) * 4096, 4_096)],
    ['a truncated end', (file) => truncateSync(file, statSync(file).size - 5_000)],
    ['no content', (file) => truncateSync(file, 0)],
    ['another kind of file', (file) => writeFileSync(file, 'a text that somebody put here by mistake\n'.repeat(500))],
  ];
  const cases = ['vault.db', 'keys.db'].flatMap((file) =>
    faults.map(([what, damage]) => [file, what, damage] as const),
  );

  test.each(cases)('%s with %s is rejected', async (file, _what, damage) => {
    const { dir, dataDir, flags } = await makeVault();
    damage(join(dataDir, file));
    await expectRefusal(
      dir,
      flags,
      new RegExp(`${file.replace('.', '\\.')} .*([Rr]estore .*from (a )?backup|Choose another data directory)`),
    );
  });

  test.each(['vault.db', 'keys.db'])('without %s are rejected, and no new file replaces it', async (file) => {
    const { dir, dataDir, flags } = await makeVault();
    rmSync(join(dataDir, file));
    await expectRefusal(dir, flags, new RegExp(`${file} is missing.*Restore it from a backup`));
  });

  test.each([
    ['vault.db', 1, 'a newer'],
    ['vault.db', -1, 'an older'],
    ['keys.db', 1, 'a newer'],
    ['keys.db', -1, 'an older'],
    ['journal.db', 1, 'a newer'],
    ['journal.db', -1, 'an older'],
  ])(
    '%s with a format number that differs by %i is rejected, and the version that wrote it can still use it',
    async (file, away, which) => {
      const vault = await makeVault();
      changeFormat(vault, file, away);
      await expectRefusal(
        vault.dir,
        vault.flags,
        new RegExp(
          `${file} was written by ${which} version of Strongroom: its format is \\d+, and this version has \\d+.*Start the version that wrote it${
            file !== 'keys.db' && away < 0 ? ', or export the data with commit [0-9a-f]+' : ''
          }`,
        ),
      );
      changeFormat(vault, file, -away);
      await expectAsBefore(vault);
    },
  );

  test.each([
    [1, 'a newer'],
    [-1, 'an older'],
  ])(
    'a month of the access log with a format number that differs by %i is rejected, and the version that wrote it can still use it',
    async (away, which) => {
      const vault = await makeVault();
      await (await startService(vault.flags)).stop();
      const file = readdirSync(vault.dataDir).find((name) => /^access-.*\.db$/.test(name)) ?? '';
      changeFormat(vault, file, away);
      const advice = away < 0 ? ', or export the data with commit [0-9a-f]+' : '';
      await expectRefusal(
        vault.dir,
        vault.flags,
        new RegExp(`${file} was written by ${which} version of Strongroom: .*Start the version that wrote it${advice}`),
      );
      changeFormat(vault, file, -away);
      await expectAsBefore(vault);
    },
  );

  test('from two vaults are rejected', async () => {
    const [one, other] = [await makeVault(), await makeVault()];
    copyFileSync(join(other.dataDir, 'vault.db'), join(one.dataDir, 'vault.db'));
    await expectRefusal(one.dir, one.flags, /do not belong together.*Restore both/);
  });

  test('with a lock that another program holds are rejected', async () => {
    const vault = await makeVault();
    const holder = pinStatements(join(vault.dataDir, 'vault.db'), {});
    holder.pragma('locking_mode = EXCLUSIVE');
    holder.exec('BEGIN EXCLUSIVE');
    const { stderr, code } = await run(['serve', '--port', '0', ...vault.flags]);
    holder.exec('ROLLBACK');
    holder.close();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/another program holds a lock on vault\.db.*Stop it/),
    });
    await expectAsBefore(vault);
  });
});

describe('a data directory', () => {
  test('below a file is rejected', async () => {
    const { dir, rootKeyFile } = await makeVault();
    const file = join(dir, 'a-file');
    writeFileSync(file, 'text');
    const flags = ['--root-key-file', rootKeyFile];
    await expectRefusal(dir, [...flags, '--data', file], /a-file is not a directory\. .*--data/);
    for (const path of [file, join(file, 'data')]) {
      const { code, stderr } = await run(['tenants', 'list', ...flags, '--data', path]);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/is not a directory|there is no vault in/),
      });
      expect(await runDoctor([...flags, '--data', path])).toMatch(/is not a directory|does not exist/);
    }
    await expectRefusal(
      dir,
      [...flags, '--data', join(file, 'data')],
      /cannot be created: a file is in the way.*--data/,
    );
  });

  test.skipIf(process.getuid?.() !== 0)('that belongs to another user is rejected (needs root)', async () => {
    const vault = await makeVault();
    const uid = 65_534;
    chmodSync(vault.dir, 0o755);
    chownSync(vault.rootKeyFile, uid, uid);
    await expectRefusal(
      vault.dir,
      ['--data', join(vault.dir, 'new'), '--root-key-file', vault.rootKeyFile],
      new RegExp(`data directory .*new cannot be created\\. Give this user write permission on ${vault.dir},`),
      1,
      { uid },
    );
    await expectRefusal(
      vault.dir,
      vault.flags,
      /data directory .* cannot be written\. Give this user write permission/,
      1,
      { uid },
    );
    // The user with this uid can read the files, but cannot write to them.
    chmodSync(vault.dataDir, 0o755);
    for (const file of ['vault.db', 'keys.db', 'journal.db', 'lock']) chmodSync(join(vault.dataDir, file), 0o644);
    await expectRefusal(
      vault.dir,
      vault.flags,
      /data directory .* cannot be written\. Give this user write permission/,
      1,
      { uid },
    );
    // Makes the user the owner of the files, one file at a time. The service still refuses to start while at least one
    // file belongs to root.
    chownSync(vault.dataDir, uid, uid);
    for (const file of ['lock', 'keys.db', 'vault.db', 'journal.db']) {
      await expectRefusal(vault.dir, vault.flags, new RegExp(`${file} cannot be written\\. Give this user`), 1, {
        uid,
      });
      chownSync(join(vault.dataDir, file), uid, uid);
    }
    for (const file of readdirSync(vault.dataDir)) {
      chownSync(join(vault.dataDir, file), 0, 0);
      chmodSync(join(vault.dataDir, file), 0o600);
    }
    for (const path of [vault.rootKeyFile, vault.dataDir]) chownSync(path, 0, 0);
    await expectAsBefore(vault);
  });

  test.each([0o777, 0o770, 0o702])('that other users may write to (%o) is rejected', async (mode) => {
    const vault = await makeVault();
    chmodSync(vault.dataDir, mode);
    await expectRefusal(vault.dir, vault.flags, /users other than its owner can write.*chmod 700/);
    chmodSync(vault.dataDir, 0o700);
    await expectAsBefore(vault);
  });

  describe('reached through a directory that other users may write to', () => {
    function openDirectory(dir: string): string {
      const open = join(dir, 'open');
      mkdirSync(open);
      chmodSync(open, 0o777);
      return open;
    }

    const message = /is reached through \S*\/open, to which other users can write\..*chmod go-w/;

    test('as its parent, even before it exists', async () => {
      const dir = tempDir();
      const open = openDirectory(dir);
      const rootKeyFile = makeRootKey(dir);
      const flags = ['--data', join(open, 'data'), '--root-key-file', rootKeyFile];
      const ended = await run(['init', ...flags]);
      expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
      expect(existsSync(join(open, 'data'))).toBe(false);
      chmodSync(open, 0o755);
      expect(await run(['init', ...flags])).toMatchObject({ code: 0 });
      chmodSync(open, 0o777);
      await expectRefusal(dir, flags, message);
    });

    test.each(['target', 'link'])('as the directory of its %s', async (which) => {
      const dir = tempDir();
      const open = openDirectory(dir);
      const [target, link] = which === 'target' ? [open, dir] : [dir, open];
      chmodSync(open, 0o755);
      const vault = await makeVault(dir, join(target, 'data'));
      chmodSync(open, 0o777);
      symlinkSync(vault.dataDir, join(link, 'linked'));
      const flags = ['--data', join(link, 'linked'), '--root-key-file', vault.rootKeyFile];
      await expectRefusal(dir, flags, message);
      expect(await runDoctor(flags)).toMatch(message);
      chmodSync(open, 0o755);
      await expectAsBefore({ ...vault, flags });
    });

    test.each(['keys.db', 'vault.db', 'lock', 'access log'])(
      'as the directory of the file that the link %s points to',
      async (name) => {
        const vault = await makeVault();
        const file = fileNamed(vault, name);
        const open = openDirectory(vault.dir);
        const path = join(vault.dataDir, file);
        renameSync(path, join(open, file));
        symlinkSync(join(open, file), path);
        await expectRefusal(vault.dir, vault.flags, message);
        chmodSync(open, 0o700);
        await expectAsBefore(vault);
      },
    );

    test('as the directory of the file that the root key link points to', async () => {
      const vault = await makeVault();
      const open = openDirectory(vault.dir);
      renameSync(vault.rootKeyFile, join(open, 'root.key'));
      symlinkSync(join(open, 'root.key'), vault.rootKeyFile);
      await expectRefusal(vault.dir, vault.flags, message);
      expect(await runDoctor(vault.flags)).toMatch(message);
      chmodSync(open, 0o700);
      await expectAsBefore(vault);
      chmodSync(vault.dir, 0o777);
      await expectRefusal(vault.dir, vault.flags, /is reached through \S+, to which other users can write/);
    });
  });

  test.each(['to which the original links as well', 'of the original'])(
    'that is a copy with a link to a keys.db %s is rejected while the original runs',
    async (keys) => {
      const vault = await makeVault();
      const copy = join(vault.dir, 'copy');
      const filter = (file: string) => !/(sock|lock)$/.test(file);
      let place = vault.dataDir;
      if (keys === 'of the original') {
        cpSync(vault.dataDir, copy, { recursive: true, filter });
        rmSync(join(copy, 'keys.db'));
        symlinkSync(join(vault.dataDir, 'keys.db'), join(copy, 'keys.db'));
      } else {
        place = join(vault.dir, 'elsewhere');
        mkdirSync(place, { mode: 0o700 });
        renameSync(join(vault.dataDir, 'keys.db'), join(place, 'keys.db'));
        symlinkSync(join(place, 'keys.db'), join(vault.dataDir, 'keys.db'));
        cpSync(vault.dataDir, copy, { recursive: true, verbatimSymlinks: true, filter });
      }
      const service = await startService([...vault.flags, '--admin-port', 'off']);
      const flags = ['--data', copy, '--root-key-file', vault.rootKeyFile];
      const message = `another Strongroom process uses ${place}, to which ${join(copy, 'keys.db')} links. Stop it first.`;
      for (const command of [
        ['serve', '--port', '0', '--admin-port', 'off'],
        ['tenants', 'list'],
      ]) {
        expect(await run([...command, ...flags])).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
      }
      expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
      await expectAsBefore(vault);
    },
  );

  test.each(['keys.db', 'vault.db'])('with a link to a %s that others can read is rejected', async (file) => {
    const vault = await makeVault();
    const elsewhere = join(vault.dir, 'elsewhere');
    mkdirSync(elsewhere);
    renameSync(join(vault.dataDir, file), join(elsewhere, file));
    symlinkSync(join(elsewhere, file), join(vault.dataDir, file));
    chmodSync(vault.dir, 0o755);
    for (const mode of [0o604, 0o602]) {
      chmodSync(join(elsewhere, file), mode);
      await expectRefusal(vault.dir, vault.flags, new RegExp(`can (read|write) .*${file}\\. Run: chmod go-rwx`));
    }
    chmodSync(join(elsewhere, file), 0o600);
    await expectAsBefore(vault);
  });

  test('with a file that others can read is rejected', async () => {
    const vault = await makeServedVault();
    chmodSync(vault.dataDir, 0o755);
    for (const name of ['keys.db', 'days.db', 'access log']) {
      const file = fileNamed(vault, name);
      chmodSync(join(vault.dataDir, file), 0o644);
      await expectRefusal(vault.dir, vault.flags, new RegExp(`can read .*${file}\\. Run: chmod go-rwx`));
      chmodSync(join(vault.dataDir, file), 0o600);
    }
    await expectAsBefore(vault);
  });

  test.skipIf(process.getuid?.() !== 0)(
    'with a file of another user is rejected if that user can reach the file (needs root)',
    async () => {
      const vault = await makeServedVault();
      const file = fileNamed(vault, 'access log');
      chownSync(join(vault.dataDir, file), 65_534, 65_534);
      chmodSync(vault.dataDir, 0o755);
      await expectRefusal(vault.dir, vault.flags, new RegExp(`${file} belongs to another user.*chown 0 `));
      chmodSync(vault.dataDir, 0o700);
      await expectAsBefore(vault);
    },
  );

  test.skipIf(process.getuid?.() !== 0)(
    'with files that another group can read is rejected if that group can reach them (needs root)',
    async () => {
      const vault = await makeServedVault();
      chmodSync(vault.dataDir, 0o710);
      for (const file of readdirSync(vault.dataDir)) chownSync(join(vault.dataDir, file), 0, 65_534);
      chmodSync(join(vault.dataDir, 'keys.db'), 0o640);
      await expectRefusal(vault.dir, vault.flags, /users other than its owner can read .*Run: chmod go-rwx/);
      chmodSync(vault.dataDir, 0o700);
      await expectAsBefore(vault);
    },
  );

  test.skipIf(process.getuid?.() !== 0)(
    'that belongs to another user and is writable is rejected (needs root)',
    async () => {
      const vault = await makeVault();
      chownSync(vault.dataDir, 65_534, 65_534);
      await expectRefusal(vault.dir, vault.flags, /belongs to another user\. Run this as that user/);
      chownSync(vault.dataDir, 0, 0);
      await expectAsBefore(vault);
    },
  );

  test('whose path is too long for its socket is rejected', async () => {
    const dir = tempDir();
    const dataDir = join(dir, 'd'.repeat(60), 'e'.repeat(60));
    mkdirSync(dataDir, { recursive: true });
    const rootKeyFile = makeRootKey(dir);
    await expectRefusal(
      dir,
      ['--data', dataDir, '--root-key-file', rootKeyFile],
      /too long for its control socket.*shorter one with --data/,
    );
  });

  test('whose absolute path is too long works if its relative path is short, and commands find the service', async () => {
    const dir = tempDir();
    const cwd = join(dir, 'd'.repeat(60), 'e'.repeat(60));
    mkdirSync(cwd, { recursive: true });
    const vault = await makeVault(dir, join(cwd, 'data'));
    const flags = ['--data', 'data', '--root-key-file', vault.rootKeyFile];
    await startService(flags, { cwd });
    expect(await run(['tenants', 'list', ...flags], { cwd })).toMatchObject({ code: 0 });
  });
});

describe('settings', () => {
  test('in a file that does not exist, is a directory, or is not JSON are rejected', async () => {
    const { dir, flags } = await makeVault();
    const file = join(dir, 'settings.json');
    await expectRefusal(dir, [...flags, '--config', file], /settings\.json: cannot be read; check the path/, 2);
    await expectRefusal(dir, [...flags, '--config', dir], /: cannot be read; check the path/, 2);
    writeFileSync(file, '{"port": marker-1');
    const { stderr } = await expectRefusal(dir, [...flags, '--config', file], /settings\.json: /, 2);
    expect(stderr).not.toContain('marker-1');
    writeFileSync(file, '[]');
    await expectRefusal(dir, [...flags, '--config', file], /must contain a JSON object/, 2);
  });

  test('that do not exist are rejected, and the message names the nearest setting in the notation of the source', async () => {
    const { dir, flags } = await makeVault();
    const file = join(dir, 'settings.json');
    writeFileSync(file, '{"auth":{"header_alias":["x"]},"prot":1}');
    const { stderr } = await expectRefusal(
      dir,
      [...flags, '--config', file],
      /auth\.header_alias .*is not a setting; did you mean auth\.header_aliases/,
      2,
    );
    expect(stderr).toMatch(/prot .*did you mean port\?/);
    const env = { STRONGROOM_AUTH_HEADER_ALIAS: 'marker-2' };
    const second = await expectRefusal(
      dir,
      flags,
      /STRONGROOM_AUTH_HEADER_ALIAS: is not a setting; did you mean STRONGROOM_AUTH_HEADER_ALIASES/,
      2,
      { env },
    );
    expect(second.stderr).not.toContain('marker-2');
    await expectRefusal(dir, [...flags, '--log-levle', 'info'], /--log-levle.*\n?.*--log-level/, 2);
  });

  test('with several problems are rejected, and one message lists all problems', async () => {
    const { dir, flags } = await makeVault();
    const env = { STRONGROOM_PORT: 'x', STRONGROOM_LOG_LEVEL: 'loud', STRONGROOM_CVC_RETENTION_SECONDS: '3601' };
    const { stderr } = await expectRefusal(dir, [...flags], /STRONGROOM_LOG_LEVEL: must be one of/, 2, {
      env: { ...env },
    });
    expect(stderr).toMatch(/STRONGROOM_CVC_RETENTION_SECONDS: must be a whole number from 1 to 3600/);
  });
});

describe('an address', () => {
  async function takenPort(): Promise<string> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    return String(typeof address === 'object' ? address?.port : '');
  }

  test('with a port in use is rejected', async () => {
    const vault = await makeVault();
    await expectRefusal(
      vault.dir,
      [...vault.flags, '--port', await takenPort()],
      /port \d+ on 127\.0\.0\.1 is in use.*--port/,
    );
    await expectAsBefore(vault);
  });

  test('with a port in use rejects the first start of --dev before it creates anything, so the next start is still the first', async () => {
    const cwd = tempDir();
    await expectRefusal(cwd, ['--dev', '--port', await takenPort()], /is in use.*--port/, 1, { cwd });
    expect(hashesOf(cwd)).toEqual({});
    const service = await startService(['--dev'], { cwd });
    expect(service.stderr()).toContain('curl');
  });

  test('that this machine does not have is rejected', async () => {
    const vault = await makeVault();
    const cert = join(vault.dir, 'c.pem');
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '1',
        '-subj',
        '/CN=x',
        '-keyout',
        cert,
        '-out',
        `${cert}.c`,
      ],
      { stdio: 'pipe' },
    );
    const tls = ['--tls-cert', `${cert}.c`, '--tls-key', cert];
    await expectRefusal(
      vault.dir,
      [...vault.flags, ...tls, '--host', '192.0.2.1'],
      /192\.0\.2\.1 is not an address of this machine.*--host/,
    );
  });
});
