import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { behindTriggers } from '../support/behind-triggers.js';
import { http, jsonResult, makeVault, run, runJson, startSigningService, until } from '../support/process.js';

test('a vault is verified while it serves; if its file was tampered with, the command exits with code 3', async () => {
  const vault = await makeVault();
  const { flags, dir, dataDir, key } = vault;
  const anchor = join(dir, 'anchor.jsonl');
  const service = await startSigningService(vault, ['--audit-anchor', anchor]);
  for (let count = 0; count < 3; count += 1) {
    const body = { type: 'token', data: `value ${count}` };
    expect((await http('POST', `${service.address}/tokens`, { key, body })).status).toBe(201);
  }
  const delivered = () => (existsSync(anchor) && readFileSync(anchor, 'utf8').endsWith('\n') ? true : undefined);
  await until('the first checkpoint', 60_000, delivered);
  const publicKey = join(dir, 'audit.pub');
  writeFileSync(publicKey, (await run(['audit', 'public-key', ...flags])).stdout);
  const running = await runJson(['audit', 'verify', '--public-key', publicKey, '--anchor', anchor, ...flags]);
  expect(running).toMatchObject({ ok: true, anchored: 1, problem: null });
  await service.stop();
  // When the service stopped, it signed a checkpoint over everything that was added after the previous checkpoint.
  expect(readFileSync(anchor, 'utf8').trimEnd().split('\n')).toHaveLength(2);

  const { stdout, code } = await run(['audit', 'verify', '--anchor', anchor, ...flags]);
  expect(code, stdout).toBe(0);
  expect(stdout).toMatch(/^complete up to checkpoint 2 .* and the anchor agrees$/m);
  const out = join(dir, 'log.jsonl');
  expect(await runJson(['audit', 'export', '--out', out, ...flags])).toMatchObject({
    events: expect.any(Number),
    access_batches: expect.any(Number),
  });
  expect((await run(['audit', 'export', '--out', out, ...flags])).code).toBe(1);
  const offline = ['audit', 'verify', '--offline', out, '--public-key', publicKey];
  const sha256 = createHash('sha256').update(readFileSync(publicKey)).digest('hex');
  expect(await runJson(offline)).toMatchObject({ ok: true, public_key: { origin: 'given', sha256 } });
  expect((await run(offline)).stdout).not.toContain('signed by the key in this export');
  const keyless = ['audit', 'verify', '--offline', out];
  expect(await runJson(keyless)).toMatchObject({ ok: true, public_key: { origin: 'export', sha256 } });
  expect(await run(keyless)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`\nsigned by the key in this export (SHA-256 ${sha256}), which does not prove`),
  });
  writeFileSync(out, readFileSync(out, 'utf8').replace('"operator"', '"nobody"'));
  expect(await run(offline)).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('was changed') });
  writeFileSync(out, readFileSync(out, 'utf8').replace('"log.opened"', '"\\n9 events, each linked\\n"'));
  expect((await run(offline)).stderr).toMatch(/^the event at position 1 \(\\n9 events, each linked\\n .*\n$/);

  const database = pinStatements(join(dataDir, 'vault.db'), {});
  const first = `(SELECT min(position) FROM events WHERE type = 'token.created')`;
  behindTriggers(database, () => database.exec(`UPDATE events SET actor = 'nobody' WHERE position = ${first}`));
  database.close();
  const found = await run(['audit', 'verify', '--json', ...flags]);
  expect(found).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^the event at position \d+ \(token\.created .*was changed/),
  });
  expect(jsonResult(found)).toMatchObject({ ok: false, problem: { kind: 'changed' } });
});

test('an export without a checkpoint of the given public key proves nothing, so the command exits with code 3', async () => {
  const [ours, other] = [await makeVault(), await makeVault()];
  const publicKey = join(ours.dir, 'audit.pub');
  writeFileSync(publicKey, (await run(['audit', 'public-key', ...ours.flags])).stdout);
  const out = join(other.dir, 'log.jsonl');
  expect(await runJson(['audit', 'export', '--out', out, '--to', '1', ...other.flags])).toMatchObject({ events: 1 });
  const offline = ['audit', 'verify', '--offline', out, '--json'];
  const forgery = await run([...offline, '--public-key', publicKey]);
  expect(forgery).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^no checkpoint in this export is signed with the given public key/),
  });
  expect(jsonResult(forgery)).toMatchObject({ ok: false, problem: { kind: 'unsigned' } });
  expect(await runJson(offline.slice(0, -1))).toMatchObject({ ok: true, complete_up_to: null });
});

test.each([
  ['an invalid position', ['verify', '--from', 'x'], 2],
  ['a position past the head', ['verify', '--from', '100000'], 1],
  ['a reversed range', ['verify', '--from', '3', '--to', '2'], 2],
  ['a part of an export', ['verify', '--offline', '/nowhere', '--from', '2'], 2],
  ['a missing export', ['verify', '--offline', '/nowhere'], 1],
  ['an invalid public key', ['verify', '--public-key', '/dev/null'], 1],
  ['a missing anchor', ['verify', '--anchor', '/nowhere'], 1],
] as const)('%s is rejected with an explanation', async (_, args, code) => {
  const { flags } = await makeVault();
  const ended = await run(['audit', ...args, ...flags]);
  expect(ended).toMatchObject({ code, stdout: '' });
  expect(ended.stderr).not.toBe('');
  expect(ended.stderr).not.toContain('unexpected error');
});
