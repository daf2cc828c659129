import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeRootKey, run, tempDir } from '../support/process.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Installs the program with its own copy of `node_modules`, so that a test can damage better-sqlite3 in it. */
function installed() {
  const dir = tempDir();
  cpSync(join(root, 'dist'), join(dir, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(dir, 'package.json'));
  const modules = join(dir, 'node_modules');
  mkdirSync(modules);
  const addon = join(modules, 'better-sqlite3');
  return { dir, modules, addon };
}

function start(dir: string, options: readonly string[] = [], args: readonly string[] = ['--version']) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [...options, join(dir, 'dist/bin/strongroom.js'), ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

function asNode(version: string): readonly string[] {
  const script = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`;
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}

const oneLine = (text: RegExp) => ({ code: 1, stdout: '', stderr: expect.stringMatching(text) });

test.each(['18.20.8', '20.18.3'])(
  'Node.js %s is rejected with one line that names the version to install, before any module is loaded',
  async (version) => {
    const { dir } = installed();
    // This directory contains no third-party modules. If the launcher tried to load the program, it would fail.
    expect(await start(dir, asNode(version))).toMatchObject(
      oneLine(
        new RegExp(
          `^Strongroom needs Node\\.js 20\\.19 or later, and this is ${version} .*Install Node\\.js 24\\.\\n$`,
        ),
      ),
    );
  },
);

test.each(['20.19.0', '22.0.0', '24.1.0'])('Node.js %s is accepted', async (version) => {
  expect(await start(root, asNode(version))).toMatchObject({ code: 0, stderr: '' });
});

test('a limit of too few open files is reported in one line that names both numbers', async () => {
  const text =
    'Strongroom needs at least 256 open files, and this process may open only 32. Raise the limit, for example with ' +
    '`ulimit -n 4096`, or with LimitNOFILE in a systemd unit.\n';
  expect(await run(['serve', '--dev'], { descriptors: 32, cwd: tempDir() })).toMatchObject({ code: 1, stderr: text });
  expect(await run(['--version'], { descriptors: 256 })).toMatchObject({ code: 0, stderr: '' });
});

test('a native module that does not load is reported in one line with the command that builds it', async () => {
  const { dir, addon } = installed();
  cpSync(join(root, 'node_modules/better-sqlite3/package.json'), join(addon, 'package.json'));
  expect(await start(dir)).toMatchObject(
    oneLine(/^The native module better-sqlite3 was not built .*npm rebuild better-sqlite3` in .*\n$/),
  );
  mkdirSync(join(addon, 'build/Release'), { recursive: true });
  writeFileSync(join(addon, 'build/Release/better_sqlite3.node'), 'made for another machine');
  expect(await start(dir)).toMatchObject(
    oneLine(
      /^The native module better-sqlite3 was built for another Node\.js or system .*npm rebuild better-sqlite3` in .*\n$/,
    ),
  );
});

test('without its modules, the program explains how to install them', async () => {
  const { dir, modules } = installed();
  expect(await start(dir)).toMatchObject(oneLine(/^The native module better-sqlite3 is not installed .*npm ci.*\n$/));
  rmSync(modules, { recursive: true });
  symlinkSync(join(root, 'node_modules'), modules);
  expect(await start(dir)).toMatchObject({ code: 0, stderr: '' });
});

test('a command that waits for something that never happens does not succeed', async () => {
  const dir = tempDir();
  const script = `import fs from 'node:fs/promises'; fs.mkdir = () => new Promise(() => undefined);`;
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
  const flags = ['--data', join(dir, 'data'), '--root-key-file', makeRootKey(dir)];
  expect(await start(root, preload, ['init', ...flags])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'unexpected error, please report it: the command waits for something that never happens\n',
  });
});

test('the launcher statically imports only Node.js modules', () => {
  const imports = readFileSync(join(root, 'dist/bin/strongroom.js'), 'utf8').match(/^import .*$/gm) ?? [];
  expect(imports.filter((line) => !/from "node:/.test(line))).toEqual([]);
});

test('serve --help fits in 80 columns and names the environment variables', async () => {
  const { code, stdout } = await start(root, [], ['serve', '--help']);
  expect(code).toBe(0);
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  for (const name of ['STRONGROOM_ROOT_KEY_FILE', 'STRONGROOM_SHUTDOWN_DELAY_SECONDS']) expect(stdout).toContain(name);
});
