import { randomInt } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { callControl } from '#src/cli/control/call-control.js';
import { http, makeVault, run, runJson, startService } from '../support/process.js';
import { fill, unread } from './support.js';

const rounds = Number(process.env['STRONGROOM_ROTATION_KILLS'] ?? 5);
const seed = Number(process.env['STRONGROOM_ROTATION_SEED'] ?? randomInt(2 ** 31));
const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0' };

test(`${rounds} kills during rotations under load: after every start, everything opens, and nothing erased returns (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const vault = await makeVault();
  const { dataDir, flags, key, rootKeyFile } = vault;
  const socket = join(dataDir, 'control.sock');
  let state = seed;
  const below = (max: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % max;
  };
  let service = await startService(flags, { env });
  const made = await fill(service.address, vault, 500);
  const deleted = new Set<string>();
  let rotated = 0;

  for (let round = 1; round <= rounds; round += 1) {
    const at = `round ${round}, STRONGROOM_ROTATION_SEED=${seed}`;
    const { address } = service;
    let isOver = false;
    const load = async () => {
      for (const [id] of made) {
        if (isOver) return;
        const body = { type: 'token', data: `of round ${round}` };
        const created = await http('POST', `${address}/tokens`, { key, body }).catch(() => null);
        if (created?.status === 201) made.set(String(created.body['id']), body.data);
        // If the delete request gets no response, its outcome is unknown. The test therefore never reads this token
        // again.
        made.delete(id);
        const ended = await http('DELETE', `${address}/tokens/${id}`, { key }).catch(() => null);
        if (ended?.status === 204) deleted.add(id);
      }
    };
    const running = load();
    await callControl(socket, 'keys-rotate', {});
    const cut = wait(below(400));
    // In every third round, the test waits until the rotation is complete. The next rotation then begins with a
    // different root key.
    while (round % 3 === 0) {
      const asked = await callControl(socket, 'keys-rotation', {});
      const now = asked?.ok === true ? asked.value.state : undefined;
      if (now === 'running') continue;
      expect(now, at).toMatch(/rotated|cleared/);
      rotated += 1;
      break;
    }
    await cut;
    await service.stop('SIGKILL');
    isOver = true;
    await running;

    service = await startService(flags, { env });
    expect(await http('GET', `${service.address}/health/ready`), at).toMatchObject({ status: 200 });
    expect(await unread(service.address, key, made), at).toEqual([]);
    for (const id of [...deleted].slice(-20)) {
      expect((await http('GET', `${service.address}/tokens/${id}`, { key })).status, at).toBe(404);
    }
  }
  expect(rotated).toBeGreaterThan(0);
  await service.stop();
  const { state: ended } = await runJson(['keys', 'rotate', '--all', ...flags]);
  expect(ended).toMatch(/rotated|cleared/);
  expect(existsSync(`${rootKeyFile}.new`)).toBe(false);
  service = await startService(flags, { env });
  expect(await unread(service.address, key, made)).toEqual([]);
});

test('after an interruption between any two steps on the root key files, everything opens at the next start, and a retry finishes', async () => {
  const { dir, dataDir, flags, rootKeyFile } = await makeVault();
  const nextFile = `${rootKeyFile}.new`;
  const old = join(dir, 'kept.key');
  copyFileSync(rootKeyFile, old);
  await runJson(['keys', 'rotate', '--all', ...flags]);
  const oldText = readFileSync(old);
  const newText = readFileSync(rootKeyFile);
  const torn = Buffer.concat([newText.subarray(0, 20), oldText.subarray(20)]);
  const zeros = Buffer.alloc(newText.length);
  const states: readonly (readonly [string, Buffer, Buffer])[] = [
    ['all keys are under the new root key, and the files are unchanged', oldText, newText],
    ['the old root key is half overwritten', torn, newText],
    ['the old root key is overwritten, and the new one’s file still exists', newText, newText],
    ['the new one’s file is also overwritten, and not removed', newText, zeros],
  ];
  for (const [what, present, next] of states) {
    writeFileSync(rootKeyFile, present, { mode: 0o600 });
    writeFileSync(nextFile, next, { mode: 0o600 });
    expect(await run(['tenants', 'list', ...flags]), what).toMatchObject({ code: 0, stderr: '' });
    expect((await runJson(['keys', 'rotate', '--all', ...flags]))['state'], what).toBe('cleared');
    expect(existsSync(nextFile), what).toBe(false);
    expect(readFileSync(rootKeyFile), what).toEqual(newText);
  }
  // At this point, no key is wrapped under the next root key. If a crash left a partial file for that key, the file
  // does no harm. A complete file is used for the next rotation.
  writeFileSync(`${nextFile}.part`, newText.subarray(0, 10), { mode: 0o600 });
  await run(['keys', 'generate-root', nextFile]);
  const prepared = readFileSync(nextFile);
  expect(await run(['tenants', 'list', ...flags])).toMatchObject({ code: 0 });
  expect((await runJson(['keys', 'rotate', '--all', ...flags]))['state']).toBe('rotated');
  expect(readFileSync(rootKeyFile)).toEqual(prepared);
  expect((await runJson(['keys', 'rotate', '--all', ...flags]))['state']).toBe('rotated');
  expect((await run(['tenants', 'list', '--data', dataDir, '--root-key-file', old])).code).toBe(1);
});
