import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  hashesOf,
  http,
  jsonResult,
  makeRootKey,
  makeVault,
  run,
  runJson,
  startService,
  tempDir,
} from '../support/process.js';
import { canMount } from '../support/small-disk.js';

/** The user id in the container image. The group id is the same number. */
const service = 10_001;
const stranger = 10_002;

/**
 * Creates a root key and a volume as Kubernetes mounts them with `fsGroup`. The key is a file behind two symbolic
 * links, and belongs to root and the service's group. The volume belongs to root and the same group, and has the setgid
 * bit.
 */
function mounted() {
  const dir = tempDir();
  chmodSync(dir, 0o755);
  const secret = join(dir, 'secret');
  mkdirSync(join(secret, '..2026_11_22'), { recursive: true });
  const rootKey = makeRootKey(join(secret, '..2026_11_22'));
  chownSync(rootKey, 0, service);
  chmodSync(rootKey, 0o440);
  symlinkSync('..2026_11_22', join(secret, '..data'));
  symlinkSync('..data/root.key', join(secret, 'root.key'));
  for (const path of [secret, join(secret, '..2026_11_22')]) chmodSync(path, 0o755);
  const volume = join(dir, 'volume');
  mkdirSync(volume);
  chownSync(volume, 0, service);
  chmodSync(volume, 0o2775);
  const flags = ['--data', volume, '--root-key-file', join(secret, 'root.key')];
  return { dir, rootKey, volume, flags };
}

/** Changes groups and modes as kubelet does when it remounts a volume with `fsGroup`. */
function applyFsGroup(dir: string): void {
  for (const name of ['.', ...readdirSync(dir)]) {
    const path = join(dir, name);
    const stats = statSync(path);
    chownSync(path, stats.uid, service);
    chmodSync(path, stats.mode | (stats.isDirectory() ? 0o2770 : 0o660));
  }
}

describe.runIf(process.getuid?.() === 0)('volumes that a container platform mounts (needs root)', () => {
  test('a root-owned key file with mode 0440 and a root-owned setgid volume work for the service’s group, even after another mount', async () => {
    const { volume, flags } = mounted();
    const made = await runJson(['init', ...flags], { uid: service });
    expect(made['tenant_id']).toEqual(expect.any(String));
    const create = ['applications', 'create', '--name', 'a', '--type', 'private', '--permissions', 'token:create'];
    const key = String((await runJson([...create, ...flags], { uid: service }))['key']);
    for (const _start of ['first', 'again']) {
      const running = await startService(flags, { uid: service });
      const { status } = await http('POST', `${running.address}/tokens`, { key, body: { type: 'token', data: 1 } });
      expect(status).toBe(201);
      expect(await running.stop()).toMatchObject({ code: 0, stderr: '' });
      applyFsGroup(volume);
    }
    const doctor = await runJson(['doctor', ...flags], { uid: service }).catch(String);
    expect(JSON.stringify(doctor)).not.toMatch(/can write to|accessible to its owner/);
  });

  test.each([
    [
      'a mode that lets others read',
      0,
      service,
      0o444,
      /only the group of the service may read it: mode 0440, not 0444/,
    ],
    ['a mode that lets the group write', 0, service, 0o460, /mode 0440, not 0460\. Run: chmod 440/],
    ['a mode that lets its owner write', 0, service, 0o640, /mode 0440, not 0640\. Run: chmod 440/],
    ['another group', 0, stranger, 0o444, /group 10002, which is not the primary group .* chgrp 10001/],
    ['the root group', 0, 0, 0o444, /group 0, which is not the primary group/],
    ['another owner', stranger, service, 0o440, /belongs to another user.*root .*mode 0440/],
    ['no access for the group', 0, service, 0o400, /cannot be opened by this user.*mode 0440/],
  ])('a root key file with %s is rejected', async (_what, uid, gid, mode, message) => {
    const { dir, rootKey, flags } = mounted();
    chownSync(rootKey, uid, gid);
    chmodSync(rootKey, mode);
    const before = hashesOf(dir);
    const ended = await run(['serve', '--port', '0', ...flags], { uid: service });
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
    expect(hashesOf(dir)).toEqual(before);
  });

  test('a process in the root group cannot read a key file that belongs to the root group', async () => {
    const { rootKey, flags } = mounted();
    chownSync(rootKey, 0, 0);
    const ended = await run(['serve', '--port', '0', ...flags], { uid: service, gid: 0 });
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/in a group of its own, not in the group of root/),
    });
  });

  test.each([
    ['that belongs to another group', 0, stranger, 0o2777, /belongs to another user/],
    ['that every user may write to', 0, service, 0o2777, /every user can write to the data directory/],
    ['without the setgid bit', 0, service, 0o775, /belongs to another user/],
    ['that belongs to another user', stranger, service, 0o2770, /belongs to another user/],
  ])('a data directory %s is rejected', async (_what, uid, gid, mode, message) => {
    const { dir, volume, flags } = mounted();
    chownSync(volume, uid, gid);
    chmodSync(volume, mode);
    const before = hashesOf(dir);
    const ended = await run(['serve', '--port', '0', ...flags], { uid: service });
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
    expect(hashesOf(dir)).toEqual(before);
  });

  test.each(['keys.db', 'vault.db'])('a volume with a %s that every user can read is rejected', async (file) => {
    const { volume, flags } = mounted();
    await runJson(['init', ...flags], { uid: service });
    chmodSync(join(volume, file), 0o604);
    const ended = await run(['serve', '--port', '0', ...flags], { uid: service });
    expect(ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`can read ${join(volume, file)}`),
    });
  });

  test('a rotation switches to a second mounted key, and changes neither key file', async () => {
    const { dir, flags } = mounted();
    await runJson(['init', ...flags], { uid: service });
    const rotate = ['keys', 'rotate', '--all', ...flags];
    const refused = await run(rotate, { uid: service });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/belongs to root.*--next-root-key-file/) });

    const next = join(dir, 'next');
    mkdirSync(next);
    chmodSync(next, 0o755);
    const nextFile = makeRootKey(next);
    chownSync(nextFile, 0, service);
    chmodSync(nextFile, 0o440);
    const env = { STRONGROOM_NEXT_ROOT_KEY_FILE: nextFile };
    const before = hashesOf(next);
    expect(await run(rotate, { uid: service, env })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/under the new root key in .*Set root_key_file to this file/),
    });
    expect(hashesOf(next)).toEqual(before);

    // Only the settings are left to change, so neither `doctor` nor another run asks for a rotation.
    const toChange = /Set root_key_file to this file.* remove next_root_key_file/;
    const again = await run(rotate, { uid: service, env });
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^the rotation has finished: /) });
    expect(again.stdout).toMatch(toChange);
    const rotationOf = async (args: readonly string[]) => {
      const doctor = await run(['doctor', '--json', ...args], { uid: service, env });
      const { findings } = jsonResult(doctor) as { findings: { check: string }[] };
      return findings.find(({ check }) => check === 'rotation');
    };
    expect(JSON.stringify(await rotationOf(flags))).toMatch(toChange);
    // Without the keys, `doctor` cannot tell which root key opens them.
    const [, , ...rootKey] = flags;
    expect(JSON.stringify(await rotationOf(['--data', join(dir, 'missing'), ...rootKey]))).toMatch(
      /has not finished, or the settings were not changed after it/,
    );
    const withNext = ['--data', join(dir, 'volume'), '--root-key-file', nextFile];
    expect(JSON.stringify(await rotationOf(withNext))).toMatch(/has finished.*Remove next_root_key_file/);
    expect(await run(['tenants', 'list', ...withNext], { uid: service })).toMatchObject({ code: 0 });
  });
});

test('a rotation whose next root key is the file of the root key fails, and keeps the file', async () => {
  const { flags, dir, rootKeyFile } = await makeVault();
  symlinkSync(rootKeyFile, join(dir, 'next.key'));
  const before = hashesOf(dir)['root.key'];
  for (const next of [rootKeyFile, join(dir, 'next.key')]) {
    expect(await run(['keys', 'rotate', '--all', ...flags, '--next-root-key-file', next])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/name the same file, .*Remove next_root_key_file/),
    });
    expect(hashesOf(dir)['root.key']).toEqual(before);
  }
});

test.runIf(canMount)(
  'a rotation with the root key on a read-only file system fails at once, and says why',
  async () => {
    const { dataDir, rootKeyFile } = await makeVault();
    const dir = tempDir();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=0700', 'tmpfs', dir]);
    onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
    const file = join(dir, 'root.key');
    copyFileSync(rootKeyFile, file);
    chmodSync(file, 0o600);
    execFileSync('mount', ['-o', 'remount,ro', dir]);
    expect(await run(['keys', 'rotate', '--all', '--data', dataDir, '--root-key-file', file])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/root\.key cannot be overwritten .*file system is read-only.*ReadWritePaths/),
    });
    expect(readdirSync(dir)).toEqual(['root.key']);
  },
);

describe.runIf(process.getuid?.() === 0)('the setting of the container image (needs root)', () => {
  const env = { STRONGROOM_CONTAINER: 'true' };

  test('rejects a start by root', async () => {
    const { dir, flags } = await makeVault();
    const before = hashesOf(dir);
    const ended = await run(['serve', '--port', '0', ...flags], { env });
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/runs as root.*--user 10001/) });
    expect(await run(['tenants', 'list', ...flags], { env })).toMatchObject({ code: 1 });
    expect(hashesOf(dir)).toEqual(before);
  });

  test.runIf(canMount)('rejects a data directory outside a volume, and accepts one in a volume', async () => {
    const dir = tempDir();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=0755', 'tmpfs', dir]);
    onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
    const key = makeRootKey(dir);
    chownSync(key, service, service);
    const volume = join(dir, 'data');
    mkdirSync(volume, { mode: 0o700 });
    chownSync(volume, service, service);
    const outside = '/opt/strongroom-not-a-volume';
    const flags = ['--root-key-file', key];
    const ended = await run(['init', ...flags, '--data', outside], { uid: service, env });
    expect(ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/not on a volume.*Mount a volume/),
    });
    expect(statSync(outside, { throwIfNoEntry: false })).toBeUndefined();
    expect(await run(['init', ...flags, '--data', volume], { uid: service, env })).toMatchObject({ code: 0 });
  });

  test.runIf(canMount)('names a volume that is read-only', async () => {
    const dir = tempDir();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,mode=0755', 'tmpfs', dir]);
    onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
    const key = makeRootKey(tempDir());
    const flags = ['--root-key-file', key, '--data', join(dir, 'data')];
    const ended = await run(['init', ...flags]);
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/file system is read-only\. Mount a writable volume/),
    });
  });
});
