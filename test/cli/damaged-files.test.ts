import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { describe, expect, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { tamperBehindTriggers } from '../erasure/support.js';
import {
  http,
  jsonResult,
  makeVault,
  run,
  startService,
  startSigningService,
  type TestVault,
} from '../support/process.js';

type Found = { readonly check: string; readonly state: string; readonly says: string; readonly do?: string };

async function doctor(flags: readonly string[]) {
  const { code, stdout } = await run(['doctor', '--json', ...flags]);
  const { findings } = jsonResult({ stdout }) as { findings: Found[] };
  return { code, findings, problems: findings.filter(({ state }) => state === 'problem') };
}

async function backUp({ dir, flags }: TestVault, name = 'backup') {
  const recipient = await identityToRecipient(await generateIdentity());
  const folder = join(dir, name);
  const made = await run(['backup', folder, '--recipient', recipient, '--json', ...flags]);
  const { damage } = jsonResult(made) as { damage: string[] };
  return { ...made, damage, isComplete: existsSync(join(folder, 'manifest.json')), files: readdirSync(folder) };
}

/** Creates a vault with 20 tokens, and leaves its service running, so that no checkpoint signs the tokens' events. */
async function runningVault() {
  const vault = await makeVault();
  const service = await startSigningService(vault);
  for (let number = 0; number < 20; number += 1) {
    const body = { type: 'token', data: `data-${number}` };
    expect(await http('POST', `${service.address}/tokens`, { key: vault.key, body })).toMatchObject({ status: 201 });
  }
  return { vault, service };
}

const newestToken = `(SELECT max(position) FROM events WHERE type = 'token.created')`;
const changeCiphertext = `UPDATE events SET content = zeroblob(length(content)) WHERE position = ${newestToken}`;

test('doctor reports a changed ciphertext that no checkpoint signs, and a backup of the log is not called good', async () => {
  const { vault, service } = await runningVault();
  tamperBehindTriggers(vault.dataDir, 'vault.db', changeCiphertext);
  const { code, findings } = await doctor(vault.flags);
  expect(findings.filter(({ check }) => check === 'log')).toEqual([
    expect.objectContaining({
      state: 'problem',
      says: expect.stringContaining('contains ciphertexts other than those that were sealed'),
    }),
  ]);
  expect(code).toBe(3);
  const backup = await backUp(vault);
  expect(backup).toMatchObject({ code: 3, isComplete: true });
  expect(backup.damage).toEqual([
    expect.stringMatching(/^the log in vault\.db: the event at position \d+ .* was changed/),
  ]);
  expect(backup.stderr).toContain('the backup is complete, but a part of it is damaged: the log in vault.db');
  await service.stop('SIGKILL');
});

test('doctor reports an empty file of the access log as damaged, not as a file of an older version', async () => {
  const { vault, service } = await runningVault();
  await service.stop();
  const file = readdirSync(vault.dataDir).find((name) => /^access-[\d-]+\.db$/.test(name)) ?? '';
  truncateSync(join(vault.dataDir, file));
  const { code, findings } = await doctor(vault.flags);
  expect(code).toBe(3);
  expect(findings).toContainEqual(
    expect.objectContaining({ state: 'problem', says: expect.stringContaining(`${file} is damaged`) }),
  );
  expect(findings.filter(({ says }) => /older version|for writing/.test(says))).toEqual([]);
  const recipient = await identityToRecipient(await generateIdentity());
  const backup = await run(['backup', join(vault.dir, 'backup'), '--recipient', recipient, ...vault.flags]);
  expect(backup.stderr).toContain(`${file} is damaged`);
});

test('a backup names a changed event that a checkpoint has signed, and leaves no other files behind', async () => {
  const { vault, service } = await runningVault();
  await service.stop();
  expect(await backUp(vault)).toMatchObject({ code: 0, damage: [] });
  tamperBehindTriggers(vault.dataDir, 'vault.db', changeCiphertext);
  const backup = await backUp(vault, 'second');
  expect(backup).toMatchObject({ code: 3, isComplete: true, damage: [expect.stringContaining('was changed')] });
  expect(backup.files.filter((name) => !/^(access-[\d-]+\.db|vault\.db|keys\.age|.*\.(txt|json))$/.test(name))).toEqual(
    [],
  );
});

test('a backup names an event without a valid authentication code, which no checkpoint signs', async () => {
  const { vault, service } = await runningVault();
  tamperBehindTriggers(
    vault.dataDir,
    'vault.db',
    `UPDATE events SET mac = zeroblob(32) WHERE position = ${newestToken}`,
  );
  expect(await backUp(vault)).toMatchObject({
    code: 3,
    isComplete: true,
    damage: [expect.stringMatching(/^the log in vault\.db: .* has no valid authentication code/)],
  });
  await service.stop('SIGKILL');
});

/** Flips a bit in an index of a month's file, so that the index lacks an entry of the table. Returns the file's name. */
function damageIndex(dataDir: string): string {
  const file = readdirSync(dataDir).find((name) => /^access-[\d-]+\.db$/.test(name)) ?? '';
  const path = join(dataDir, file);
  const bytes = readFileSync(path);
  const isOk = (check: string): boolean => {
    const database = pinStatements(path, {});
    try {
      return database.pragma(`${check}(1)`, { simple: true }) === 'ok';
    } catch {
      return false;
    } finally {
      database.close();
    }
  };
  expect(isOk('integrity_check')).toBe(true);
  for (let at = bytes.length - 50; at > 4_096; at -= 31) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    writeFileSync(path, damaged);
    if (!isOk('integrity_check') && isOk('quick_check')) return file;
  }
  throw new Error('the file has no index');
}

describe.each(['stopped', 'running'] as const)('in a vault that is %s', (state) => {
  test('doctor and backups name a damaged file of the access log', async () => {
    const { vault, service } = await runningVault();
    await service.stop();
    expect((await doctor(vault.flags)).findings).toContainEqual({
      check: 'access log files',
      state: 'ok',
      says: '1 file checked: no page and no index is damaged',
    });
    const file = damageIndex(vault.dataDir);
    const again = state === 'running' ? await startService(vault.flags) : null;
    const { code, problems } = await doctor(vault.flags);
    expect(problems.map(({ says }) => says)).toEqual([`${file} is damaged`]);
    expect(problems[0]?.do).toContain(`move ${file} and its -wal and -shm files out of the data directory`);
    expect(code).toBe(3);
    expect(await backUp(vault)).toMatchObject({ code: 3, isComplete: true, damage: [`${file} is damaged`] });
    await again?.stop();
  });
});
