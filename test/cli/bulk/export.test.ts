import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { describe, expect, test } from 'vitest';
import type { Answers } from '#src/cli/operations.js';
import type { RunOperation } from '#src/cli/run-command.js';
import { runExport } from '#src/cli/tokens/run-export.js';
import type { JsonObject } from '#src/domain/json.js';
import { exportTokens } from '#src/queries/export-tokens.js';
import { operate } from '../../audit/operate.js';
import { tamper } from '../../erasure/support.js';
import { http, run, runJson, spawnCommand, startService, tempDir, until } from '../../support/process.js';
import { startTestService } from '../../support/test-service.js';
import { allTokens, expectNoMarker, importJson, manyLines, marker, vaultWithKeyFile } from './support.js';

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, holder: marker };
const requests: readonly JsonObject[] = [
  {
    id: 'card-1',
    type: 'card',
    data: { ...card, cvc: '907' },
    containers: ['/pci/high/', '/x/'],
    metadata: { a: 'b' },
  },
  { id: 'ssn: é', type: 'social_security_number', data: '123-45-6789', expires_at: '2099-01-02T03:04:05.678Z' },
  {
    id: 'own',
    type: 'token',
    data: { v: [marker, null] },
    mask: { v: '{{ data.v }}' },
    search_indexes: ['{{ data.v | size }}'],
  },
  { id: 'none', type: 'employer_id_number', data: '12-3456789', search_indexes: [] },
  {
    id: 'twin-1',
    type: 'token',
    data: marker,
    fingerprint_expression: '{{ data | upcase }}',
    mask: '{{ data | reveal_last: 4 }}',
  },
  { id: 'twin-2', type: 'token', data: marker, fingerprint_expression: '{{ data | upcase }}' },
];

async function keysIn(dir: string) {
  const identity = await generateIdentity();
  const recipient = await identityToRecipient(identity);
  const identityFile = join(dir, 'identity');
  writeFileSync(identityFile, `# a comment\n${identity}\n`, { mode: 0o600 });
  return { identityFile, recipient };
}

/** Creates a vault with the tokens from `requests`, and adds enough tokens that an export takes several steps. */
async function filledVault() {
  const vault = await vaultWithKeyFile();
  const stdin = requests.map((request) => JSON.stringify(request)).join('\n');
  const more = ['--resume-file', join(vault.dir, 'resume')];
  const { code, stderr } = await importJson(['-', ...more, ...vault.args], `${stdin}\n${manyLines(150)}`);
  expect(code, stderr).toBe(0);
  return vault;
}

describe('an export that is imported again', () => {
  test.each([
    ['encrypted, without a service', true, false],
    ['in plaintext, through a running service', false, true],
  ])('%s: the new vault has the same tokens', async (_how, isSealed, isRunning) => {
    const { args, dir, flags, managementKey } = await filledVault();
    const service = isRunning ? await startService(flags) : null;
    const { identityFile, recipient } = await keysIn(dir);
    const out = join(dir, 'out');
    const how = isSealed ? ['--recipient', recipient] : ['--plaintext'];
    const exported = await run(['tokens', 'export', '--out', out, ...how, ...args]);
    expectNoMarker(exported);
    expect(exported).toMatchObject({ code: 0, stdout: `exported 156 tokens to ${out}\n` });
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir).filter((name) => name.includes('part'))).toEqual([]);

    const bytes = readFileSync(out);
    const inClear = [marker, Buffer.from(marker).toString('hex'), Buffer.from(marker).toString('base64').slice(2, 12)];
    expect(inClear.map((text) => bytes.includes(text))).toEqual([!isSealed, false, false]);
    expect(bytes.includes(card.number)).toBe(!isSealed);
    expect(bytes.includes('"907"')).toBe(false);

    const other = await vaultWithKeyFile();
    const opened = isSealed ? ['--identity-file', identityFile] : [];
    const imported = await importJson([out, ...opened, ...other.args]);
    expect(imported).toMatchObject({ code: 0, summary: { created: 156, deduplicated: 0, failed: 0 } });
    const [before, after] = [await allTokens(args), await allTokens(other.args)];
    const { cvc: _, ...data } = (before.get('card-1')?.['data'] ?? {}) as JsonObject;
    expect(before.size).toBe(156);
    expect(after).toEqual(new Map([...before, ['card-1', { ...before.get('card-1'), data }]]));

    if (service !== null) {
      const url = `${service.address}/logs?operation=reveal&entity_type=token&entity_id=twin-1`;
      const { body } = await http('GET', url, { key: managementKey });
      // One entry was recorded for the export, and one for the search in `allTokens` above.
      expect((body['pagination'] as JsonObject)['total_items']).toBe(2);
    }
  });

  test('every reader reports a truncated or changed encrypted file, and another identity opens nothing', async () => {
    const { args, dir } = await filledVault();
    const { identityFile, recipient } = await keysIn(dir);
    const recipientFile = join(dir, 'recipients');
    writeFileSync(recipientFile, `# for tests\n${recipient}\n`);
    const out = join(dir, 'out.age');
    await runJson(['tokens', 'export', '--out', out, '--recipient-file', recipientFile, ...args]);
    const sealed = readFileSync(out);
    const opened = ['--identity-file', identityFile];
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(sealed.length - 40) ^ 1, sealed.length - 40);
    for (const broken of [sealed.subarray(0, -7), changed, sealed.subarray(0, 100)]) {
      writeFileSync(join(dir, 'broken'), broken);
      const ended = await importJson([join(dir, 'broken'), ...opened, ...args]);
      expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/damaged/) });
      expect(ended.summary['created'] ?? 0).toBe(0);
    }
    const stranger = await keysIn(tempDir());
    const refused = await importJson([out, '--identity-file', stranger.identityFile, ...args]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/cannot be opened/) });
    expect(await importJson([out, ...args])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--identity-file/),
    });
    chmodSync(identityFile, 0o640);
    const exposed = await importJson([out, ...opened, ...args]);
    expect(exposed).toMatchObject({ code: 1, stderr: expect.stringContaining(`Run: chmod 600 ${identityFile}`) });
    chmodSync(identityFile, 0o400);
    expect((await importJson([out, ...opened, ...args])).summary).toMatchObject({ created: 0, skipped: 156 });
  });
});

test('a token whose key is lost is named, and all other tokens are exported', async () => {
  const { args, dir, dataDir } = await filledVault();
  // A key with a recorded revision is the key of a token's content.
  const one = 'SELECT sequence FROM data_keys ORDER BY revision = (SELECT max(revision) FROM data_keys) LIMIT 1';
  const remove = `DELETE FROM data_keys WHERE sequence = (${one})`;
  expect(tamper(dataDir, 'keys.db', remove)).toBe(1);
  const out = join(dir, 'out');
  const ended = await run(['tokens', 'export', '--out', out, '--plaintext', ...args]);
  expectNoMarker(ended);
  expect(ended.code).toBe(3);
  expect(ended.stdout).toBe(`exported 155 tokens to ${out}\n`);
  expect(ended.stderr).toMatch(
    /1 token could not be exported, because the keys are lost: token-[0-9a-f]{64}\. Restore the key store from a backup, /,
  );
  expect(readFileSync(out, 'utf8').split('\n')).toHaveLength(156);
});

test('an existing file is not replaced, and a failed export leaves no file', async () => {
  const { args, dir, flags } = await filledVault();
  const out = join(dir, 'out');
  writeFileSync(out, 'precious');
  const refused = await run(['tokens', 'export', '--out', out, '--plaintext', ...args]);
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/already exists/) });
  expect(readFileSync(out, 'utf8')).toBe('precious');
  const before = readdirSync(dir);
  const nowhere = await run(['tokens', 'export', '--out', join(dir, 'no', 'out'), '--plaintext', ...args]);
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringMatching(/cannot be written \(ENOENT\)/) });
  const masked = await runJson([
    'applications',
    'create',
    '--name',
    'm',
    '--type',
    'private',
    '--permissions',
    'token:read',
    ...flags,
  ]);
  writeFileSync(join(dir, 'masked.key'), String(masked['key']), { mode: 0o600 });
  const blind = ['--api-key-file', join(dir, 'masked.key'), ...flags];
  const left = await run(['tokens', 'export', '--out', '-', '--plaintext', ...blind]);
  expect(left).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/left out 156 tokens that/) });
  expect(readdirSync(dir).filter((name) => !before.includes(name))).toEqual(['masked.key']);
});

test('if the service is killed during an encrypted export, no file is left that looks complete', async () => {
  const { args, dir, flags } = await filledVault();
  const service = await startService(flags);
  const { recipient } = await keysIn(dir);
  const exporter = spawnCommand(['tokens', 'export', '--out', join(dir, 'out'), '--recipient', recipient, ...args]);
  await service.stop('SIGKILL');
  const ended = await exporter.ended;
  expectNoMarker(ended);
  // The export may have finished before the service was killed. Or it may have started after that, found no running
  // service, and opened the data itself.
  expect(readdirSync(dir).includes('out')).toBe(ended.code === 0);
  expect(readdirSync(dir).filter((name) => name.includes('part'))).toEqual([]);
});

test('if tokens change during an export, every token that lived throughout the export is in it exactly once', async () => {
  const { args, flags, key } = await filledVault();
  const service = await startService(flags);
  const before = [...(await allTokens(args)).keys()];
  const doomed = new Set(before.filter((id) => id.startsWith('twin')));
  let over = false;
  const writes = (async () => {
    for (let n = 0; !over; n += 1) {
      await http('POST', `${service.address}/tokens`, { key, body: { type: 'token', data: n } });
      await http('PATCH', `${service.address}/tokens/own`, { key, body: { metadata: { n: String(n) } } });
      for (const id of doomed) if (n === 5) await http('DELETE', `${service.address}/tokens/${id}`, { key });
    }
  })();
  const { code, stdout } = await run(['tokens', 'export', '--out', '-', '--plaintext', ...args]);
  over = true;
  await writes;
  expect(code).toBe(0);
  const ids = stdout
    .trim()
    .split('\n')
    .map((line) => String((JSON.parse(line) as JsonObject)['id']));
  expect(new Set(ids).size).toBe(ids.length);
  expect(before.filter((id) => !doomed.has(id) && !ids.includes(id))).toEqual([]);
});

test('a step with large tokens is short, and the steps together return each token once', async () => {
  const service = await startTestService();
  const ids = Array.from({ length: 20 }, (_, number) => `t-${number}`);
  for (const id of ids) {
    const data = id === 't-0' ? 'small' : 'x'.repeat(300_000);
    expect((await service.call('POST', '/tokens', { id, type: 'token', data })).status).toBe(201);
  }
  const steps: string[][] = [];
  for (let before: number | null = null; steps.length === 0 || before !== null; ) {
    const step: Answers['tokens-export'] = await operate(service.service, 'tokens-export', {
      key: service.key,
      before,
    });
    steps.push(step.requests.map(({ id }) => String(id)));
    before = step.next;
  }
  expect(steps.flat().toSorted()).toEqual(ids.toSorted());
  expect(Math.max(...steps.map(({ length }) => length))).toBe(4);
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key is good');
  const context = { caller, traceId: randomUUID(), beganAt: performance.now() };
  expect((await exportTokens(service.vault, context, null, 2)).requests).toHaveLength(2);
  await service.close();
});

test.runIf(existsSync('/dev/full'))('a full disk behind standard output is reported', async () => {
  const { args, flags } = await filledVault();
  for (const command of [
    ['tokens', 'export', '--out', '-', '--plaintext', ...args],
    ['tenants', 'list', ...flags],
  ]) {
    expect(await run(command, { fillsDisk: 'stdout' }), command.join(' ')).toMatchObject({
      code: 1,
      stderr: 'standard output cannot be written (ENOSPC), so the output is incomplete.\n',
    });
  }
});

test.runIf(existsSync('/dev/full'))('a full disk behind standard error does not end a command', async () => {
  const { args } = await filledVault();
  const ended = await run(['tokens', 'export', '--out', '-', '--plaintext', ...args], { fillsDisk: 'stderr' });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\{"id":/) });
});

test('an export whose output fails waits for the step that the encryption has begun in advance', async () => {
  let underWay = 0;
  const run = async (): Promise<unknown> => {
    underWay += 1;
    await wait(50);
    underWay -= 1;
    return { requests: [{ data: 'x' }], masked: 0, lost: [], next: 1, total: 1_000 };
  };
  const failing = {
    async encrypt(lines: ReadableStream<Uint8Array>) {
      const reader = lines.getReader();
      await reader.read();
      return new ReadableStream({
        async start(controller) {
          await until('the next step', 30_000, () => (underWay > 0 ? true : undefined));
          controller.error(new Error('the disk is full'));
        },
      });
    },
  } as Partial<Encrypter> as Encrypter;
  const out = join(tempDir(), 'out.age');
  const exported = runExport(run as RunOperation, { key: '', out, encrypter: failing, json: true });
  await expect(exported).rejects.toThrow('the disk is full');
  expect(underWay).toBe(0);
});
