import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import type { JsonObject } from '#src/domain/json.js';
import type { Finding } from '#src/queries/findings/finding.js';
import { openReader } from '../erasure/support.js';
import {
  type HttpAnswer,
  hashesOf,
  http,
  jsonResult,
  makeRootKey,
  makeVault,
  run,
  runJson,
  spawnCommand,
  startService,
  startSigningService,
  type TestVault,
  tempDir,
  until,
} from '../support/process.js';
import { canMount, smallDisk } from '../support/small-disk.js';

const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

const megabyte = 1024 * 1024;

/** The line with the reason. It begins with a count if some work was done before the disk was full. */
const waitsForSpace = /^(?:[\d,]+ (?:key|event)s?, )?waiting for free space: the disk under \S+ is full$/m;

/**
 * Reads `vault.db` until the test ends, so that its write-ahead log is not emptied. Every 30 seconds, the service
 * empties this log, which frees some space.
 */
function keepLog({ dataDir }: TestVault): void {
  const reader = openReader(dataDir, 'vault.db');
  onTestFinished(() => void reader.close());
  reader.hold();
}

describe.skipIf(!canMount)('a full disk (needs permission to mount)', () => {
  test.each([0, 20_000, 60_000])(
    'at init, with %i bytes left: init reports it, and works once there is space',
    async (leave) => {
      const disk = smallDisk(megabyte);
      const flags = ['--data', join(disk.dir, 'data'), '--root-key-file', makeRootKey(tempDir())];
      disk.fill(leave);
      const ended = await run(['init', ...flags, '--json']);
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toMatch(/full.*Free some space/);
      disk.free();
      expect(await run(['init', ...flags, '--json'])).toMatchObject({ code: 0, stderr: '' });
    },
  );

  test('when the service starts: serve reports it, changes nothing, and works once there is space', async () => {
    const disk = smallDisk(megabyte);
    const { flags, dataDir } = await makeVault(tempDir(), join(disk.dir, 'data'));
    const stores = () => Object.entries(hashesOf(dataDir)).filter(([file]) => file.endsWith('.db'));
    const before = stores();
    disk.fill();
    const ended = await run(['serve', '--port', '0', ...flags]);
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/full.*Free some space/) });
    expect(stores()).toEqual(before);
    disk.free();
    expect(await (await startService(flags)).stop()).toMatchObject({ code: 0 });
  });

  test.each([0, 20_000, 120_000, 240_000])(
    'of a backup, with %i bytes left: the message names the backup and not the files of the vault, and nothing is left',
    async (leave) => {
      const disk = smallDisk(megabyte);
      const { dataDir, flags } = await makeVault();
      const out = join(disk.dir, 'backup');
      disk.fill(leave);
      const before = readdirSync(disk.dir);
      const ended = await run(['backup', out, '--recipient', recipient, ...flags]);
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toContain(`${out} cannot be written (ENOSPC). The disk is full. Free some space, or choose`);
      expect(readdirSync(disk.dir)).toEqual(before);
      disk.free();
      expect(await run(['backup', out, '--recipient', recipient, ...flags])).toMatchObject({ code: 0 });
      expect(existsSync(join(dataDir, 'last-backup'))).toBe(true);
    },
  );

  test('during a backup to another disk: the message says that the backup is complete', async () => {
    const disk = smallDisk(24 * megabyte);
    const vault = await makeVault(tempDir(), join(disk.dir, 'data'));
    const { dir, flags } = vault;
    // The backup needs the key that the first checkpoint creates, and a full disk has no room for it.
    await startSigningService(vault);
    const out = join(dir, 'backup');
    keepLog(vault);
    disk.fill();
    const ended = await run(['backup', out, '--recipient', recipient, ...flags]);
    expect(ended).toMatchObject({ code: 4, stdout: expect.stringContaining(` to ${out}`) });
    expect(ended.stderr).toContain('the backup is complete, but its time could not be recorded in the vault (ENOSPC).');
    expect(readdirSync(out)).toContain('manifest.json');
  });

  test('during a rotation: the command says what the rotation waits for, and finishes once there is space', async () => {
    const disk = smallDisk(24 * megabyte);
    const vault = await makeVault(tempDir(), join(disk.dir, 'data'));
    const { flags } = vault;
    await startService([...flags, '--disk-reserve-bytes', '0']);
    keepLog(vault);
    disk.fill();
    const { output, ended } = spawnCommand(['keys', 'rotate', '--all', ...flags]);
    // On a busy machine, progress is shown before the reason.
    await until('the reason for the wait', 60_000, () => waitsForSpace.test(output.stderr) || undefined);
    disk.free();
    expect(await ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('all keys are under the new root key'),
    });
  });

  test('during a rebuild: the command says what the rebuild waits for, and finishes once there is space', async () => {
    const disk = smallDisk(24 * megabyte);
    const { flags, dir, key } = await makeVault(tempDir(), join(disk.dir, 'data'));
    const service = await startService(flags);
    const lines = Array.from({ length: 2_000 }, (_, n) => JSON.stringify({ type: 'token', data: `value ${n}` }));
    const file = join(dir, 'in.ndjson');
    writeFileSync(file, lines.join('\n'));
    writeFileSync(join(dir, 'app.key'), key, { mode: 0o600 });
    await runJson(['tokens', 'import', file, '--api-key-file', join(dir, 'app.key'), ...flags]);
    // A stop empties the write-ahead logs. Otherwise, the rebuild might need no more space than they already take.
    await service.stop();
    await startService([...flags, '--disk-reserve-bytes', '0']);
    disk.fill(300_000);
    const { output, ended } = spawnCommand(['projections', 'rebuild', 'tokens', '--yes', ...flags]);
    await until('the reason for the wait', 60_000, () => waitsForSpace.test(output.stderr) || undefined);
    // If an attempt in the meantime stores some rows, the rebuild briefly does not wait.
    const rebuild = await until('the reason in the status', 60_000, async () => {
      const projections = (await runJson(['projections', 'status', ...flags]))['projections'] as JsonObject[];
      const found = projections.find(({ name }) => name === 'tokens')?.['rebuild'] as JsonObject;
      return (found['waits_for'] as JsonObject | null)?.['reason'] === 'full' ? found : undefined;
    });
    disk.free();
    expect(rebuild).toMatchObject({ phase: 'building', waits_for: { store: expect.any(String) } });
    expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining('rebuilt tokens') });
  });

  test('before the disk is full: a reserve keeps reveals, deletes and revocations working while creates and updates return 503 and a rebuild waits', async () => {
    const sizeBytes = 64 * megabyte;
    const disk = smallDisk(sizeBytes);
    const { flags, key, managementKey } = await makeVault(tempDir(), join(disk.dir, 'data'));
    let service = await startService(flags);
    const manage = (method: string, path: string, body?: JsonObject) =>
      http(method, `${service.address}${path}`, { key: managementKey, ...(body === undefined ? {} : { body }) });
    const diskFinding = async () => {
      const { findings } = jsonResult(await run(['doctor', '--json', ...flags])) as {
        readonly findings: readonly Finding[];
      };
      return findings.find(({ check }) => check === 'disk');
    };
    expect(await diskFinding()).toMatchObject({
      state: 'problem',
      says: expect.stringMatching(/^\d\d\.\d MiB are free in \S+$/),
      do: 'Free some space: if less than the reserve of 3.2 MiB (disk.reserve_bytes) is free, creates and updates are rejected.',
    });
    let url = `${service.address}/tokens`;
    const body = (id: string) => ({ id, type: 'token', data: 'v'.repeat(1_000) });
    const ids = [...Array(20).keys()].map((index) => `token-${index}`);
    for (const id of ids) expect(await http('POST', url, { key, body: body(id) })).toMatchObject({ status: 201 });
    const card = { id: 'card', type: 'card', data: { number: '4242424242424242', cvc: '123' } };
    expect(await http('POST', url, { key, body: card })).toMatchObject({ status: 201 });
    const application = { name: 'reader', type: 'private', permissions: ['token:read'] };
    const made = await manage('POST', '/applications', application);
    const { id: applicationId } = made.body;
    const issued = await manage('POST', `/applications/${applicationId}/keys`);
    const hook = { url: 'https://example.com/', event_types: ['token.deleted'] };
    const webhook = await manage('POST', '/webhooks', hook);
    expect([made.status, issued.status, webhook.status]).toEqual([201, 201, 201]);
    // The service empties its write-ahead logs from time to time. If they were large while the test fills the disk,
    // more than the reserve would be free after that. A stop empties them too.
    expect(await service.stop()).toMatchObject({ code: 0 });
    service = await startService(flags);
    url = `${service.address}/tokens`;
    disk.fill(sizeBytes / 20 - 300_000);
    const refused = await until('a refused create', 30_000, async () => {
      const answer = await http('POST', url, { key, body: body(`new-${Math.random()}`) });
      return answer.status === 201 ? undefined : answer;
    });
    expect(refused).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
    const cause =
      /"problem":"the disk under \S+ is full, less than disk\.reserve_bytes is free, or the disk quota of this user is used up\. Free some space\."/;
    await until('the cause in the log', 20_000, () => (cause.test(service.stdout()) ? true : undefined));
    expect(await diskFinding()).toMatchObject({
      state: 'problem',
      says: expect.stringMatching(/less than the reserve of 3\.2 MiB \(disk\.reserve_bytes\)$/),
      do: 'Free some space: creates and updates are rejected until then.',
    });
    // The disk was completely full for a moment while the test filled it. The access log may pause briefly after that.
    await until('the first reveal', 30_000, async () =>
      (await http('GET', `${url}/${ids[0]}`, { key })).status === 200 ? true : undefined,
    );
    const rebuild = spawnCommand(['projections', 'rebuild', 'tokens', '--yes', ...flags]);
    await until('the reason for the wait', 60_000, () => waitsForSpace.test(rebuild.output.stderr) || undefined);
    for (const [index, id] of ids.entries()) {
      const update = { metadata: { n: String(index) } };
      expect(await http('PATCH', `${url}/${id}`, { key, body: update })).toMatchObject({ status: 503 });
      const shown = await http('GET', `${url}/${id}`, { key });
      expect(shown, shown.text).toMatchObject({ status: 200, body: { data: 'v'.repeat(1_000) } });
      const ended = await http('DELETE', `${url}/${id}`, { key });
      expect(ended.status, ended.text).toBe(204);
    }
    expect(await run(['projections', 'cancel', 'tokens', ...flags])).toMatchObject({ code: 0 });
    expect((await rebuild.ended).code).not.toBe(0);
    expect(await manage('POST', '/applications', application)).toMatchObject({ status: 503 });
    expect(await http('DELETE', `${url}/card/cvc`, { key })).toMatchObject({ status: 204 });
    for (const path of [
      `/applications/${applicationId}/keys/${issued.body['id']}`,
      `/applications/${applicationId}`,
      `/webhooks/${webhook.body['id']}`,
    ]) {
      const ended = await manage('DELETE', path);
      expect(ended.status, ended.text).toBe(204);
    }
    disk.free();
    await until('recovery', 30_000, async () =>
      (await http('POST', url, { key, body: body('after') })).status === 201 ? true : undefined,
    );
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
  });

  test('at run time: writes return 503 with Retry-After, masked reads work, nothing is half stored, and the service recovers on its own', async () => {
    const disk = smallDisk(4 * megabyte);
    const { flags, dataDir } = await makeVault(tempDir(), join(disk.dir, 'data'));
    // An application that sees only masked data. A read in plaintext must first be recorded in the access log, which is
    // on the full disk too.
    const application = ['applications', 'create', '--name', 'masked', '--type', 'private', ...flags];
    const { key } = (await runJson([...application, '--permissions', tokenPermissions.join(',')])) as { key: string };
    const service = await startService(flags);
    const url = `${service.address}/tokens`;
    const send = (method: string, path: string, body?: unknown, once?: string) =>
      http(method, url + path, {
        ...(body === undefined ? {} : { body }),
        key,
        headers: once === undefined ? {} : { 'service-idempotency-key': once },
      });
    const stored = new Map<string, HttpAnswer['body']>();
    const refused: string[] = [];
    const create = async (id: string) => {
      const answer = await send('POST', '', { id, type: 'token', data: 'v'.repeat(3_000) }, `once-${id}`);
      // The response to a create request contains the fingerprint, because the caller already knows the value. The
      // response to a masked read does not contain the fingerprint.
      const { fingerprint: _, ...shown } = answer.body;
      if (answer.status === 201) stored.set(id, shown);
      else refused.push(id);
      return answer;
    };
    for (const index of Array(10).keys()) expect(await create(`before-${index}`)).toMatchObject({ status: 201 });
    disk.fill(100_000);
    const first503 = await until('the first refusal', 60_000, async () => {
      const answers = await Promise.all(
        [...Array(8).keys()].map(() => create(`filling-${stored.size}-${Math.random()}`)),
      );
      return answers.find(({ status }) => status !== 201);
    });
    expect(first503, first503.text).toMatchObject({
      status: 503,
      headers: {
        'content-type': expect.stringContaining('problem+json'),
        'retry-after': expect.stringMatching(/^[1-9]\d*$/),
      },
      body: { code: 'store_unavailable' },
    });
    disk.fill();
    // Writes can still succeed as long as SQLite reuses free space in its logs.
    await until('the room in the logs to be used up', 60_000, async () =>
      (await create(`slack-${stored.size}-${Math.random()}`)).status === 503 ? true : undefined,
    );
    const [someId = '', otherId = ''] = stored.keys();
    const large = 'v'.repeat(450_000);
    for (const refusedWrite of [
      await send('POST', '', { id: 'full', type: 'token', data: large }),
      await send('PATCH', `/${someId}`, { data: large }),
    ]) {
      expect(refusedWrite, refusedWrite.text).toMatchObject({
        status: 503,
        headers: { 'retry-after': expect.any(String) },
      });
    }
    // A deletion needs little space, so it can succeed even on the full disk. If it fails, the retry below succeeds.
    stored.delete(otherId);
    expect([204, 503]).toContain((await send('DELETE', `/${otherId}`)).status);
    for (const [id, body] of stored) expect(await send('GET', `/${id}`)).toMatchObject({ status: 200, body });
    for (const id of refused) expect(await send('GET', `/${id}`)).toMatchObject({ status: 404 });
    expect(await http('GET', `${service.address}/health/live`)).toMatchObject({ status: 200 });

    disk.free();
    const ids = refused.splice(0);
    await until('recovery', 30_000, async () => ((await create('after')).status === 201 ? true : undefined));
    // Each rejected request is sent again with its idempotency key. It now succeeds, and takes effect exactly once.
    for (const id of ids) expect(await create(id)).toMatchObject({ status: 201 });
    expect([204, 404]).toContain((await send('DELETE', `/${otherId}`)).status);
    const removed = await send('DELETE', `/${someId}`);
    expect(removed.status, removed.text).toBe(204);
    stored.delete(someId);
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });

    const vault = pinStatements(join(dataDir, 'vault.db'), { readonly: true });
    const count = (sql: string) => vault.prepare(sql).pluck().get();
    expect(count(`SELECT count(*) FROM events WHERE type = 'token.created'`)).toBe(stored.size + 2);
    expect(count('SELECT count(*) FROM token_rows_1 WHERE removed_at IS NULL')).toBe(stored.size);
    vault.close();
    const again = await startService(flags);
    for (const [id, body] of stored) {
      expect(await http('GET', `${again.address}/tokens/${id}`, { key })).toMatchObject({ status: 200, body });
    }
  });
});
