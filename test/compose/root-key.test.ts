import { execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { faultOfDataDirectory } from '#src/compose/embedded/data-directory.js';
import { generateRootKey } from '#src/compose/root-key/generate-root-key.js';
import { decodeKeyText, encodeKeyText } from '#src/compose/root-key/key-text.js';
import { hashOfFile, replaceRootKeyFile, takeNextRootKey } from '#src/compose/root-key/next-root-key.js';
import { loadRootKey } from '#src/compose/root-key/root-key.js';
import { devRootKeyPath } from '#src/compose/root-key/root-key-place.js';
import { runKeyCommand } from '#src/compose/root-key/run-key-command.js';
import { createKeyRotationWork, type KeyRotationWork } from '#src/compose/vault/key-rotation-work.js';
import type { KeyRotation } from '#src/keys/key-ring.js';
import { RotationRefused } from '#src/keys/rotation.js';
import { flushedPaths } from '../support/flushed-paths.js';

const hex = '00112233445566778899aabbccddeeff0123456789abcdef0123456789ABCDEF';

let root: string;
let dataDir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'strongroom-root-key-'));
  dataDir = join(root, 'data');
  mkdirSync(dataDir);
});
afterEach(() => rmSync(root, { recursive: true }));

function keyFile(contents: string, mode = 0o600, path = join(root, 'root.key')): string {
  writeFileSync(path, contents);
  chmodSync(path, mode);
  return path;
}

async function failure(from: Parameters<typeof loadRootKey>[0]): Promise<string> {
  const loaded = await loadRootKey(from);
  if (loaded.ok) throw new Error('the key was accepted');
  expect(loaded.message.toLowerCase()).not.toContain('00112233');
  return loaded.message;
}

describe('a root key file', () => {
  it.each([hex, `${hex}\n`, `${hex}\r\n`])('with 32 bytes is accepted: %j', async (contents) => {
    const loaded = await loadRootKey({ file: keyFile(contents), dataDir });
    expect(loaded).toEqual({ ok: true, key: Buffer.from(hex, 'hex') });
    // The key has its own buffer. If it shared memory with other buffers, zeroing the key would not be enough.
    expect(loaded.ok && loaded.key.buffer.byteLength).toBe(32);
  });

  it.each([
    '',
    '\n',
    hex.slice(1),
    `${hex}0`,
    `${hex}\n\n`,
    ` ${hex}`,
    `${hex} `,
    `${hex}\r`,
    hex.replace('a', 'g'),
    `${hex}\n${hex}`,
    `${hex}\r\n0`,
  ])('is rejected if it contains %j, and the message does not quote it', async (contents) => {
    expect(await failure({ file: keyFile(contents), dataDir })).toContain('64 hexadecimal characters');
  });

  it('may have mode 0400', async () => {
    expect((await loadRootKey({ file: keyFile(hex, 0o400), dataDir })).ok).toBe(true);
  });

  it.each([0o640, 0o604, 0o660, 0o644, 0o700, 0o601, 0o4600])('is rejected with mode %o', async (mode) => {
    expect(await failure({ file: keyFile(hex, mode), dataDir })).toContain('chmod 600');
  });

  it.skipIf(process.geteuid?.() !== 0)('is rejected if another user owns it', async () => {
    const file = keyFile(hex);
    chownSync(file, 65_534, 65_534);
    expect(await failure({ file, dataDir })).toContain('belongs to another user');
  });

  it('is rejected inside the data directory, even if the path contains links or dots', async () => {
    const inside = keyFile(hex, 0o600, join(dataDir, 'root.key'));
    const linkToFile = join(root, 'link.key');
    const linkToData = join(root, 'linked-data');
    symlinkSync(inside, linkToFile);
    symlinkSync(dataDir, linkToData);
    for (const file of [inside, linkToFile, join(linkToData, 'root.key'), `${root}/data/../data/root.key`]) {
      expect(await failure({ file, dataDir }), file).toContain('is inside the data directory');
      expect(await failure({ file, dataDir: linkToData }), file).toContain('is inside the data directory');
    }
  });

  it('may be next to the data directory, which does not have to exist yet', async () => {
    const file = keyFile(hex, 0o600, `${dataDir}.root-key`);
    expect((await loadRootKey({ file, dataDir })).ok).toBe(true);
    expect((await loadRootKey({ file, dataDir: join(root, 'new', 'data') })).ok).toBe(true);
  });

  it('may be reached through a link, as mounted secrets are', async () => {
    const link = join(root, 'link.key');
    symlinkSync(keyFile(hex), link);
    expect((await loadRootKey({ file: link, dataDir })).ok).toBe(true);
  });

  describe('behind a link', () => {
    function openDirectory(name: string, mode = 0o777): string {
      const directory = join(root, name);
      mkdirSync(directory);
      chmodSync(directory, mode);
      return directory;
    }

    it.each([0o777, 0o702])(
      'is rejected if other users may write to the directory of the link’s target (%o)',
      async (mode) => {
        const open = openDirectory('open', mode);
        const link = join(root, 'link.key');
        symlinkSync(keyFile(hex, 0o600, join(open, 'root.key')), link);
        expect(await failure({ file: link, dataDir })).toContain(`chmod go-w ${open}`);
      },
    );

    it('is rejected if other users may write to a parent directory of the target', async () => {
      const open = openDirectory('open');
      mkdirSync(join(open, 'closed'), { mode: 0o700 });
      const link = join(root, 'link.key');
      symlinkSync(keyFile(hex, 0o600, join(open, 'closed', 'root.key')), link);
      expect(await failure({ file: link, dataDir })).toContain(`chmod go-w ${open}`);
    });

    it('is rejected if other users may replace the link or another link behind it', async () => {
      const open = openDirectory('open');
      const [link, first] = [join(open, 'link.key'), join(root, 'first.key')];
      symlinkSync(keyFile(hex), link);
      symlinkSync('open/link.key', first);
      for (const file of [link, first]) expect(await failure({ file, dataDir })).toContain(`chmod go-w ${open}`);
    });

    it('is accepted in a directory in which only the owner of a file may replace the file', async () => {
      const sticky = openDirectory('sticky', 0o1777);
      const link = join(sticky, 'link.key');
      symlinkSync(keyFile(hex, 0o600, join(sticky, 'root.key')), link);
      expect((await loadRootKey({ file: link, dataDir })).ok).toBe(true);
    });

    it.skipIf(process.geteuid?.() !== 0)(
      'is rejected if another user owns a directory or a link on the path',
      async () => {
        const sticky = openDirectory('sticky', 0o1777);
        const link = join(sticky, 'link.key');
        symlinkSync(keyFile(hex), link);
        lchownSync(link, 65_534, 65_534);
        expect(await failure({ file: link, dataDir })).toContain(`${link}, which belongs to another user`);
        const directory = openDirectory('foreign', 0o755);
        const file = keyFile(hex, 0o600, join(directory, 'root.key'));
        chownSync(directory, 65_534, 65_534);
        expect(await failure({ file, dataDir })).toContain(`${directory}, which belongs to another user`);
      },
    );
  });

  it('is rejected if other users may write to its directory, even without a link', async () => {
    const directory = join(root, 'open');
    mkdirSync(directory);
    const file = keyFile(hex, 0o600, join(directory, 'root.key'));
    chmodSync(directory, 0o777);
    expect(await failure({ file, dataDir })).toContain(`chmod go-w ${directory}`);
    chmodSync(directory, 0o755);
    expect((await loadRootKey({ file, dataDir })).ok).toBe(true);
  });

  it('is rejected if it is missing, and the message names the command that creates a key', async () => {
    const file = join(root, 'none.key');
    expect(await failure({ file, dataDir })).toContain(`strongroom keys generate-root ${file}`);
  });

  it('is rejected if it is a directory or a pipe, and the start does not wait for a writer', async () => {
    const pipe = join(root, 'pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
    expect(await failure({ file: pipe, dataDir })).toContain('not a regular file');
    expect(await failure({ file: root, dataDir })).toContain('not a regular file');
  });
});

describe('a root key command', () => {
  const node = (script: string): [string, ...string[]] => [process.execPath, '-e', script];

  it('provides the key that it prints', async () => {
    const loaded = await loadRootKey({ command: node(`console.log('${hex}')`), dataDir });
    expect(loaded).toEqual({ ok: true, key: Buffer.from(hex, 'hex') });
  });

  it('may print the key in pieces', async () => {
    const script = `process.stdout.write('${hex.slice(0, 9)}'); setTimeout(() => console.log('${hex.slice(9)}'), 50)`;
    expect(await loadRootKey({ command: node(script), dataDir })).toEqual({ ok: true, key: Buffer.from(hex, 'hex') });
  });

  it('gets its arguments unchanged, because no shell runs it', async () => {
    const command: [string, ...string[]] = [process.execPath, '-p', `'${hex}'`, '$HOME; echo hello'];
    expect((await loadRootKey({ command, dataDir })).ok).toBe(true);
  });

  it.each([
    ['did not print a root key', `console.log('${hex.slice(1)}')`],
    ['did not print a root key', ''],
    ['printed more than a root key', `console.log('${hex}'.repeat(100000))`],
    ['ended with status 3', `console.error('${hex}'); process.exitCode = 3; console.log('${hex}')`],
    ['was ended by a signal', `process.kill(process.pid, 'SIGKILL')`],
  ])('is rejected if it %s, and the message does not repeat its output', async (expected, script) => {
    expect(await failure({ command: node(script), dataDir })).toContain(expected);
  });

  it.each([['/nowhere/strongroom'], ['with\0zero']])('is rejected if it cannot be started: %j', async (program) => {
    expect(await failure({ command: [program, hex], dataDir })).toContain('could not be started');
  });

  it('is killed after the time limit, even if a child process keeps the pipe open', async () => {
    const result = await runKeyCommand(['/bin/sh', '-c', 'sleep 5 & wait'], 200);
    expect(result).toEqual({ ok: false, message: expect.stringContaining('did not end within 0.2 s') });
  });

  // Threat: a core dump or a swapped page contains the key long after the vault has read it.
  it.each([
    [true, `console.log('${hex}')`],
    [false, `console.log('${hex}'); process.exitCode = 3`],
  ])('leaves no copy of its output in memory (key accepted: %s)', async (isAccepted, script) => {
    const allocated = vi.spyOn(Buffer, 'allocUnsafeSlow');
    const copied = vi.spyOn(Buffer.prototype, 'copy');
    const loaded = await runKeyCommand(node(script));
    const pieces = [...copied.mock.contexts] as Buffer[];
    const buffers = [...allocated.mock.results.map(({ value }) => value as Buffer), ...pieces];
    allocated.mockRestore();
    copied.mockRestore();
    expect(loaded.ok).toBe(isAccepted);
    expect(pieces).not.toEqual([]);
    for (const buffer of buffers) expect(Buffer.from(buffer)).toEqual(Buffer.alloc(buffer.length));
  });
});

describe('the source of the root key', () => {
  it('has no default, and without a setting, the message explains how to create a key', async () => {
    expect(await failure({ dataDir })).toContain('strongroom keys generate-root FILE');
    expect(await failure({ file: null, command: null, dataDir })).toContain('STRONGROOM_ROOT_KEY_FILE');
  });

  it('is a file next to the data directory in dev mode', () => {
    expect(devRootKeyPath('/srv/data')).toBe('/srv/data.root-key');
    expect(devRootKeyPath('/srv/data/')).toBe('/srv/data.root-key');
    expect(devRootKeyPath('./data')).toBe(join(process.cwd(), 'data.root-key'));
    expect(devRootKeyPath('.')).toBe(`${process.cwd()}.root-key`);
  });
});

describe('a generated root key', () => {
  it('can be loaded, can be read only by its owner, and is different each time', async () => {
    const keys = new Set<string>();
    for (const name of ['a.key', 'b.key']) {
      const file = join(root, name);
      expect(generateRootKey(file)).toEqual({ ok: true });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const loaded = await loadRootKey({ file, dataDir });
      if (loaded.ok) keys.add(loaded.key.toString('hex'));
    }
    expect(keys.size).toBe(2);
  });

  it('is never written over a file or through a link', () => {
    const file = keyFile(hex);
    expect(generateRootKey(file)).toEqual({ ok: false, message: expect.stringContaining('already exists') });
    expect(readFileSync(file, 'utf8')).toBe(hex);
    symlinkSync(join(root, 'elsewhere'), join(root, 'link'));
    expect(generateRootKey(join(root, 'link')).ok).toBe(false);
  });

  it('is not written to an empty file, which an interrupted command can leave; the message says what to do', () => {
    const file = keyFile('');
    const message = `${file} already exists and is empty. An interrupted command can leave such a file`;
    expect(generateRootKey(file)).toEqual({ ok: false, message: expect.stringContaining(message) });
    expect(readFileSync(file, 'utf8')).toBe('');
  });

  it('requires that the directory exists', () => {
    const made = generateRootKey(join(root, 'none', 'root.key'));
    expect(made).toEqual({ ok: false, message: expect.stringContaining(`mkdir -p ${join(root, 'none')}`) });
  });
});

/** Lets a function of `node:fs` fail as on a broken disk until the test ends or calls `mend`. */
function breakDisk(name: 'fsyncSync' | 'renameSync' | 'chmodSync') {
  const broken = vi.spyOn(fs, name).mockImplementation(() => {
    throw Object.assign(new Error('i/o error'), { code: 'EIO' });
  });
  const mend = () => {
    broken.mockRestore();
    syncBuiltinESMExports();
  };
  syncBuiltinESMExports();
  onTestFinished(mend);
  return { mend };
}

/** Returns a list that receives each buffer that `node:fs` reads from a file or writes to one, until the test ends. */
function holdKeyMemory(): Buffer[] {
  const held: Buffer[] = [];
  const { readFileSync: read, writeSync: write } = fs;
  const spies = [
    vi.spyOn(fs, 'readFileSync').mockImplementation((...args) => {
      const bytes = read(...args);
      if (Buffer.isBuffer(bytes)) held.push(bytes);
      return bytes;
    }),
    vi.spyOn(fs, 'writeSync').mockImplementation((...args: Parameters<typeof write>) => {
      if (Buffer.isBuffer(args[1])) held.push(args[1]);
      return write(...args);
    }),
  ];
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
  return held;
}

/** A rotation whose keys are already wrapped under the next root key. Only the files of the root key are left. */
const finishedRotation: KeyRotation = {
  isUnder: async () => true,
  rootCheck: async () => null,
  begin: async () => 0,
  rewrap: async () => null,
  replaceRoot: async () => true,
  voidBefore: async () => null,
  settle: async () => undefined,
};

/** Starts a rotation and returns its state when it has ended. */
async function ended(work: KeyRotationWork) {
  work.start();
  while (work.state().state === 'running') await new Promise(setImmediate);
  return work.state();
}

describe('on a disk that fails', () => {
  it('a generated root key leaves no file that could be taken for a root key', () => {
    breakDisk('fsyncSync');
    const file = join(root, 'root.key');
    expect(generateRootKey(file)).toEqual({ ok: false, message: expect.stringContaining('Check the disk') });
    expect(existsSync(file)).toBe(false);
  });

  it.each([
    ['name the next root key', 'renameSync'],
    ['write the root key', 'chmodSync'],
  ] as const)('a rotation that cannot %s says what to do, and can be repeated', async (_, broken) => {
    const nextFile = join(root, 'next.key');
    const file = keyFile(hex);
    const disk = breakDisk(broken);
    const place = { named: null, file, command: null, nextFile, dataDir, isDev: false };
    let reported = 0;
    const work = createKeyRotationWork(finishedRotation, place, true, async () => {
      reported += 1;
    });
    await expect(ended(work)).rejects.toThrow(/EIO.*root\.key and .*next\.key\. Keep them all.*run the command again/);
    expect(readFileSync(file, 'utf8')).toBe(hex);
    disk.mend();
    expect(await ended(work)).toMatchObject({ state: 'cleared', root_key_file: file });
    expect(readFileSync(file, 'utf8')).not.toBe(hex);
    expect(existsSync(nextFile)).toBe(false);
    expect(reported, 'the access log has an entry about the rotation').toBe(1);
  });

  it('a rotation that was killed after it overwrote the file of the next root key is recorded', async () => {
    const nextFile = keyFile('\0'.repeat(64), 0o600, join(root, 'next.key'));
    const place = { named: null, file: keyFile(hex), command: null, nextFile, dataDir, isDev: false };
    let reported = 0;
    const work = createKeyRotationWork(finishedRotation, place, true, async () => {
      reported += 1;
    });
    expect(await ended(work)).toMatchObject({ state: 'cleared' });
    expect(reported).toBe(1);
  });

  it('a process of a cluster that only replaces its own file does not record the rotation again', async () => {
    const nextFile = keyFile(hex, 0o600, join(root, 'next.key'));
    const place = { named: null, file: keyFile('00'.repeat(32)), command: null, nextFile, dataDir, isDev: false };
    const work = createKeyRotationWork(finishedRotation, place, false, async () => expect.unreachable());
    expect(await ended(work)).toMatchObject({ state: 'cleared' });
  });

  it('a rotation that was suspended before it replaced the file keeps the key that another rotation wrote there', async () => {
    const [file, nextFile] = [keyFile(hex), join(root, 'next.key')];
    const newer = 'cd'.repeat(32);
    let checks = 0;
    const rotation: KeyRotation = {
      ...finishedRotation,
      async isUnder() {
        checks += 1;
        // Another process completes this rotation, and then one more, after the last check of this rotation.
        if (checks === 2) {
          rmSync(nextFile);
          writeFileSync(file, newer);
        }
        return true;
      },
    };
    const place = { named: null, file, command: null, nextFile, dataDir, isDev: false };
    const work = createKeyRotationWork(rotation, place, true, async () => undefined);
    await expect(ended(work)).rejects.toThrow('was changed while the rotation ran');
    expect([readFileSync(file, 'utf8'), existsSync(nextFile)]).toEqual([newer, false]);
  });

  it.each(['the keys', 'the file of the root key'])(
    'a rotation that cannot replace %s leaves no key in memory',
    async (failing) => {
      const nextFile = join(root, 'next.key');
      const held = holdKeyMemory();
      const rotation: KeyRotation = {
        ...finishedRotation,
        async isUnder(next) {
          held.push(next);
          if (failing === 'the keys') throw new RotationRefused('a key does not open');
          breakDisk('fsyncSync');
          return true;
        },
      };
      keyFile(hex, 0o600, nextFile);
      const place = { named: null, file: keyFile('00'.repeat(32)), command: null, nextFile, dataDir, isDev: false };
      const work = createKeyRotationWork(rotation, place, true, async () => undefined);
      await expect(ended(work)).rejects.toThrow(/a key does not open|EIO/);
      expect(held.length).toBeGreaterThan(1);
      expect(held.map((bytes) => bytes.toString('hex'))).toEqual(held.map((bytes) => '00'.repeat(bytes.length)));
    },
  );
});

describe.runIf(process.platform === 'linux')('the files of a rotation', () => {
  it('are on disk after each step: at every moment, one of them contains a key that opens the vault', async () => {
    const file = keyFile(hex, 0o400);
    const nextFile = join(root, 'next.key');
    const dataOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').trim() : 'none');
    const flushed = await flushedPaths((path) => [basename(path), dataOf(file), dataOf(nextFile)]);
    const place = { named: file, file, command: null, nextFile, dataDir, isDev: false };
    const next = takeNextRootKey(place, true);
    if (next === null) throw new Error('there must be a next root key');
    replaceRootKeyFile(file, nextFile, Buffer.from(next), hashOfFile(file));
    const text = next.toString('hex');
    expect(flushed).toEqual([
      ['next.key.part', hex, 'none'],
      [basename(root), hex, 'none'],
      [basename(root), hex, text],
      ['root.key', text, text],
      ['next.key', text, '\0'.repeat(65)],
      [basename(root), text, 'none'],
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o400);
  });

  it('are on disk before any key is wrapped, even if an earlier rotation was killed before it flushed the directory', async () => {
    const file = keyFile(hex);
    const nextFile = keyFile('ab'.repeat(32), 0o600, join(root, 'next.key'));
    const flushed = await flushedPaths((path) => path);
    takeNextRootKey({ named: file, file, command: null, nextFile, dataDir, isDev: false }, true);
    expect(flushed).toEqual([root]);
  });

  // Threat: another user replaces the next root key with one that this user knows, and the rotation wraps all keys
  // under it.
  it('are rejected if another user can replace the next root key', () => {
    const open = join(root, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const file = keyFile(hex);
    const nextFile = keyFile('ab'.repeat(32), 0o600, join(open, 'next.key'));
    const place = { named: file, file, command: null, nextFile, dataDir };
    expect(() => takeNextRootKey({ ...place, isDev: false }, true)).toThrow(`chmod go-w ${open}`);
    const taken = takeNextRootKey({ ...place, isDev: true }, true);
    expect(taken?.toString('hex')).toBe('ab'.repeat(32));
  });

  it('are left alone if another process has finished the rotation, or has put the key for the next one there', () => {
    const [file, nextFile] = [keyFile(hex), keyFile('ab'.repeat(32), 0o600, join(root, 'next.key'))];
    const key = Buffer.alloc(32, 1);
    const before = hashOfFile(file);
    replaceRootKeyFile(file, nextFile, key, before);
    expect(readFileSync(nextFile, 'utf8')).toBe('ab'.repeat(32));
    rmSync(nextFile);
    replaceRootKeyFile(file, nextFile, key, before);
    expect([readFileSync(file, 'utf8').trim(), existsSync(nextFile)]).toEqual(['01'.repeat(32), false]);
  });
});

describe('a command in a message works as printed for a path that a shell would take apart', () => {
  /** Runs the command at the end of a message in a shell. */
  const runEndOf = (message: string, name: string) => {
    const at = message.indexOf(name);
    expect(at, message).toBeGreaterThan(0);
    execFileSync('sh', ['-c', message.slice(at)], { cwd: root });
  };
  let odd: string;
  beforeEach(() => {
    odd = join(root, `it's a "dir" $HOME`);
    mkdirSync(odd);
  });

  it('if the mode of the root key file is wrong', async () => {
    const file = keyFile(hex, 0o644, join(odd, 'root.key'));
    runEndOf(await failure({ file, dataDir }), 'chmod 600');
    expect((await loadRootKey({ file, dataDir })).ok).toBe(true);
  });

  it('if other users can write to a directory on the path', async () => {
    const file = keyFile(hex, 0o600, join(odd, 'root.key'));
    chmodSync(odd, 0o777);
    runEndOf(await failure({ file, dataDir }), 'chmod go-w');
    expect((await loadRootKey({ file, dataDir })).ok).toBe(true);
  });

  it('if the directory of a new root key does not exist', () => {
    const file = join(odd, 'not there', 'root.key');
    const made = generateRootKey(file);
    runEndOf(made.ok ? '' : made.message, 'mkdir -p');
    expect(generateRootKey(file)).toEqual({ ok: true });
  });

  it('if the root key file does not exist', async () => {
    const message = await failure({ file: join(odd, 'root.key'), dataDir });
    expect(message).toContain(`\`strongroom keys generate-root '${odd.replace("'", `'\\''`)}/root.key'\``);
  });

  it('if other users can write to the data directory', () => {
    chmodSync(odd, 0o777);
    runEndOf(faultOfDataDirectory(statSync(odd), odd) ?? '', 'chmod 700');
    expect(faultOfDataDirectory(statSync(odd), odd)).toBeNull();
  });
});

describe('the hexadecimal form of a key', () => {
  it('can be read back for every key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const key = Buffer.from(bytes);
        expect(encodeKeyText(key).toString('latin1')).toBe(`${key.toString('hex')}\n`);
        expect(decodeKeyText(encodeKeyText(key))).toEqual(key);
      }),
    );
  });

  it('is rejected if any byte is not a hexadecimal digit', () => {
    for (let unit = 0; unit < 256; unit += 1) {
      const isDigit = /^[0-9a-fA-F]$/.test(String.fromCharCode(unit));
      const text = Buffer.from(hex);
      text[40] = unit;
      expect(decodeKeyText(text) !== null, String(unit)).toBe(isDigit);
    }
  });
});
