import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { never } from '#src/adapters/sqlite/database/keys-schema.js';
import { packStream } from '#src/adapters/sqlite/database/packed-text.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { openAuthenticStores } from '#src/compose/embedded/embedded-stores.js';
import { loadRootKey } from '#src/compose/root-key/root-key.js';
import { operate } from '../audit/operate.js';
import { anEvent } from '../contract/support.js';
import { keyIdBytes, keyIdsOf, streamOf, tamper, tamperBehindTriggers } from '../erasure/support.js';
import { openVault } from '../rebuild/support.js';
import { manualClock } from '../support/manual-clock.js';
import {
  hashesOf,
  http,
  jsonResult,
  makeVault,
  run,
  runJson,
  startService,
  tempDir,
  until,
} from '../support/process.js';
import { startTestService } from '../support/test-service.js';

type Found = { readonly check: string; readonly state: string; readonly says: string; readonly do?: string };

/** Runs `doctor` and returns its findings and its exit code. */
async function doctor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await run(['doctor', '--json', ...args], { env });
  const { findings, problems } = jsonResult({ stdout }) as { findings: Found[]; problems: number };
  expect(code, stderr).toBe(problems === 0 ? 0 : 3);
  const wrong = findings.filter(({ state }) => state === 'problem');
  expect(wrong).toHaveLength(problems);
  for (const one of wrong) expect(adviceOf(one), one.says).not.toMatch(/^$|See the message/);
  return {
    findings,
    wrong: wrong.map(({ check }) => check),
    says: (check: string) => findings.find((one) => one.check === check)?.says,
    advice: (check: string) => findings.filter((one) => one.check === check).map(adviceOf)[0],
  };
}

/** Returns the advice of a finding. If it has no line of its own, it follows the first sentence of the finding. */
function adviceOf(one: Found): string {
  return one.do ?? one.says.split('. ').slice(1).join('. ');
}

const seeWhatChanged =
  'Run `strongroom audit verify` to see what was changed, find out what can write to the store, and restore a backup.';
const useOtherVersion = 'Restart the service with this version, or use the program of its version.';
const doNotStop =
  'If the service is running, do not stop it yet: it still has the right root key in memory, but without a copy of ' +
  'that key it cannot start again. If there is no copy, write the tokens to a file with `strongroom tokens export`.';
const rebuildRows =
  'Find out who can write to the store of the rows. Then run `strongroom projections rebuild` for `directory` or ' +
  '`tokens`. If a row is still an older version after that, restore the newest backup. A claim needs neither: only ' +
  'retries of its request fail until it is deleted, normally a day after the request.';

test('a directory in place of a file is named, and doctor still reports its other findings', async () => {
  for (const file of ['days.db', 'vault.db']) {
    const { flags, dataDir } = await makeVault();
    rmSync(join(dataDir, file), { force: true });
    mkdirSync(join(dataDir, file));
    const { says, wrong, advice } = await doctor(flags);
    expect(wrong).toEqual(['stores']);
    expect(says('stores')).toContain(`${join(dataDir, file)} is a directory`);
    expect(advice('stores')).toBe('Move it away.');
    expect(says('access log files')).toBeDefined();
  }
});

test('a healthy vault has no findings, whether or not the service runs, and doctor reports which copies of the keys are useless', async () => {
  const { flags } = await makeVault();
  const before = await doctor(flags);
  expect(before.wrong).toEqual([]);
  const copies = before.findings.find(({ check }) => check === 'copies');
  expect(copies).toMatchObject({ state: 'note', says: expect.stringContaining('never rotated') });
  expect(copies?.do).toContain('strongroom keys rotate');
  const service = await startService(flags);
  await runJson(['keys', 'rotate', '--all', ...flags]);
  const after = await doctor(flags);
  expect(after.wrong).toEqual([]);
  expect(after.says('copies')).toMatch(
    /^copies of the keys from before 20\d\d-.*, when the last rotation began, are useless/,
  );
  expect(after.findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining([
      'configuration',
      'root key',
      'disk',
      'versions',
      'stores',
      'projections',
      'deadlines',
      'lost keys',
      'events',
      'checkpoint',
      'copies',
      'rows',
      'webhooks',
    ]),
  );
  expect((await service.stop()).stderr).toBe('');
});

test('a vault whose webhooks were created, changed and deleted is healthy', async () => {
  const { flags, managementKey: key } = await makeVault();
  const service = await startService(flags);
  const webhook = { url: 'https://receiver.invalid/hook', event_types: ['token.created'] };
  const created = await http('POST', `${service.address}/webhooks`, { key, body: webhook });
  expect(created.status, created.text).toBe(201);
  const url = `${service.address}/webhooks/${JSON.parse(created.text).id}`;
  expect((await http('PUT', url, { key, body: { ...webhook, enabled: false } })).status).toBe(200);
  expect((await http('DELETE', url, { key })).status).toBe(204);
  expect((await doctor(flags)).wrong).toEqual([]);
  await service.stop();
});

test('a service of another version is reported as such, whatever operations it lacks', async () => {
  const { dataDir, flags } = await makeVault();
  /** Listens on the control socket and responds to every request with this status and body. */
  const answering = async (status: number, answer: object): Promise<Server> => {
    const server = createServer((_request, response) => response.writeHead(status).end(JSON.stringify(answer)));
    await once(server.listen(join(dataDir, 'control.sock')), 'listening');
    onTestFinished(() => void server.close());
    return server;
  };
  const ok = { check: 'stores', state: 'ok', says: 'all answer' };
  const running = { version: '0.0.1', projections: [] };
  const first = await answering(200, { ok: true, value: { findings: [ok], running } });
  const beside = await doctor(flags);
  expect(beside.wrong).toEqual(['versions']);
  expect(beside.says('versions')).toMatch(/^the running service is version 0.0.1, and this program is version \d/);
  expect(beside.advice('versions')).toBe(useOtherVersion);
  expect(beside.findings).toContainEqual(ok);
  await new Promise((resolve) => first.close(resolve));

  await answering(404, { ok: false, message: 'no such operation' });
  const unknown = await doctor(flags);
  expect(unknown.wrong).toEqual(['stores']);
  expect(unknown.says('stores')).toContain('has another version and does not know this command');
  expect(unknown.advice('stores')).toBe(useOtherVersion);
});

test('files that other users can access are named, and --fix corrects their modes', async () => {
  const { dir, dataDir, rootKeyFile, flags } = await makeVault();
  const service = await startService(flags);
  chmodSync(dataDir, 0o777);
  chmodSync(rootKeyFile, 0o644);
  const found = await doctor(flags);
  // Each fault is one problem with one fix, although it concerns several files.
  expect(found.wrong).toEqual(['root key', 'data directory']);
  expect(found.says('root key')).toContain(`Run: chmod 600 ${rootKeyFile}`);
  expect(found.says('data directory')).toContain(`then run: chmod 700 ${dataDir}`);
  for (const check of found.wrong) expect(found.advice(check)).toBe('`strongroom doctor --fix` corrects the mode.');
  await service.stop();
  const stopped = await doctor(flags);
  expect(stopped.wrong).toEqual(['root key', 'data directory', 'stores']);
  expect(stopped.advice('stores')).toBe('See the finding about the root key.');
  chmodSync(rootKeyFile, 0o600);
  const relative = await run(['doctor', '--json', '--data', basename(dataDir), '--root-key-file', rootKeyFile], {
    cwd: dir,
  });
  expect(relative.stdout).toContain('See the finding about the data directory.');
  chmodSync(rootKeyFile, 0o644);
  expect((await doctor(['--fix', ...flags])).wrong).toEqual([]);
  expect([dataDir, rootKeyFile].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
});

test('a root key file that does not open the vault is reported while the service still runs', async () => {
  const { flags, rootKeyFile } = await makeVault();
  const service = await startService(flags);
  expect((await doctor(flags)).says('root key')).toBe('can be read, and opens the keys of the vault');
  writeFileSync(rootKeyFile, `${'ab'.repeat(32)}\n`);
  const found = await doctor(flags);
  expect(found.wrong).toEqual(['root key']);
  expect(found.says('root key')).toBe(
    'this root key does not open keys.db. Set root_key_file to the file of the current root key.',
  );
  expect(found.advice('root key')).toBe(doNotStop);
  rmSync(rootKeyFile);
  const lost = await doctor(flags);
  expect(lost.says('root key')).toMatch(/does not exist\. The data in .* can be opened only with/);
  expect(lost.says('root key')).not.toContain('generate-root');
  expect(lost.advice('root key')).toBe(doNotStop);
  const rotated = await run(['keys', 'rotate', '--all', ...flags]);
  expect([rotated.code, rotated.stderr]).toEqual([1, expect.stringMatching(/root\.key does not exist\. Put a copy/)]);
  await service.stop();
  const stopped = await doctor(flags);
  expect(stopped.wrong).toEqual(['root key', 'stores']);
  expect(stopped.says('stores')).toBe('the stores could not be opened');
  expect(stopped.advice('stores')).toBe('See the finding about the root key.');
});

test('a database that was removed is reported while the service still uses it', async () => {
  for (const file of ['keys.db', 'vault.db']) {
    const { flags, dataDir } = await makeVault();
    const service = await startService(flags);
    rmSync(join(dataDir, file));
    const found = (await doctor(flags)).findings.find(({ says }) => says.startsWith(`${file} was removed`));
    expect(found).toMatchObject({ check: 'stores', state: 'problem' });
    expect(found?.do).toBe(
      'Do not stop the service yet. Write the tokens to a file with `strongroom tokens export`. Then stop the ' +
        'service, restore a backup to an empty directory, and import the file.',
    );
    await service.stop();
  }
});

test('lost keys, overdue deadlines and orphan keys are reported, and --fix resolves the last two', async () => {
  const service = await startTestService({ dataDir: join(tempDir(), 'data') });
  const { dataDir, rootKey } = service;
  const create = async (more: object) => {
    const created = await service.call('POST', '/tokens', { type: 'token', data: 'x', ...more });
    expect(created.status, created.text).toBe(201);
    return String(created.body['id']);
  };
  const lost = await create({});
  const inAnHour = new Date(service.clock.now() + 3_600_000).toISOString();
  await create({ expires_at: inAnHour });
  await create({});
  const [lostKey = ''] = (await keyIdsOf(service, lost)).content;
  // Creates keys that no event refers to. A crash would also leave such keys.
  await service.vault.keys.create(service.tenantId);
  await service.service.checkpointer.run('grown');
  await service.stop();
  const rootKeyFile = join(tempDir(), 'root.key');
  writeFileSync(rootKeyFile, `${rootKey.toString('hex')}\n`, { mode: 0o600 });
  const flags = ['--data', dataDir, '--root-key-file', rootKeyFile];
  // The clock of this vault is months behind real time. According to the real clock, the token is long overdue, and the
  // unused key has long been an orphan.
  const unsure = await doctor(['--fix', ...flags]);
  expect(unsure.wrong).toEqual(['clock', 'orphan keys']);
  expect(unsure.says('clock')).toMatch(
    /2026-01-31T.*nothing is destroyed until the service has run for another 1,440 minutes/,
  );
  expect(unsure.advice('clock')).toBe('Correct the clock. If it is right, run `strongroom clock confirm`.');
  expect(await runJson(['clock', 'confirm', ...flags])).toEqual({ was: 'confirmed' });
  expect(await runJson(['clock', 'confirm', ...flags])).toEqual({ was: 'trusted' });
  const overdue = await doctor(flags);
  expect(overdue.wrong).toEqual(['deadlines', 'orphan keys']);
  expect(overdue.advice('deadlines')).toBe('Start the service, or a worker, or run `strongroom doctor --fix`.');
  expect(overdue.advice('orphan keys')).toBe(
    'The service destroys these keys within an hour. Run this command with --fix to destroy them now.',
  );
  expect((await doctor(['--fix', ...flags])).wrong).toEqual([]);
  tamper(
    dataDir,
    'keys.db',
    'UPDATE data_keys SET destroyed_at = 1, wrapped = zeroblob(61) WHERE id = ?',
    keyIdBytes(lostKey),
  );
  const found = await doctor(['--fix', ...flags]);
  expect(found.wrong).toEqual(['lost keys']);
  expect(found.says('lost keys')).toMatch(/^a key of 1 token is missing or damaged: token \S+ of tenant \S+$/);
  expect(found.advice('lost keys')).toBe(
    'Restore the newest backup whose keys all open: `strongroom backup` says if a key does not open.',
  );
});

test('nothing is said about missing entries if the store of the access log cannot check for them', async () => {
  const { service } = await startTestService();
  const { accessLog } = service.vault;
  const diagnosed = async (missing: typeof accessLog.missing) => {
    const vault = { ...service.vault, accessLog: { ...accessLog, missing } };
    const { findings } = await operate({ ...service, vault }, 'diagnose', { fix: false });
    return findings.map(({ check }) => check);
  };
  expect(await diagnosed(async () => null)).toContain('access log');
  expect(await diagnosed(null)).not.toContain('access log');
  await service.close();
});

test('invalid settings, another vault’s root key, and servers that are down are findings, not crashes', async () => {
  const [one, other] = [await makeVault(), await makeVault()];
  const mixed = ['--data', one.dataDir, '--root-key-file', other.rootKeyFile];
  expect(await doctor(mixed)).toMatchObject({ wrong: ['root key', 'stores'] });
  const invalid = await doctor(one.flags, { STRONGROOM_PORT: 'x' });
  expect(invalid.wrong).toEqual(['configuration']);
  expect(invalid.says('configuration')).toContain('STRONGROOM_PORT');
  expect(invalid.advice('configuration')).toBe('Correct these settings.');
  const down = {
    STRONGROOM_PROFILE: 'cluster',
    STRONGROOM_INSECURE_STORES: 'true',
    STRONGROOM_EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
    STRONGROOM_REDIS_URL: 'redis://127.0.0.1:1',
    STRONGROOM_MONGODB_URL: 'mongodb://127.0.0.1:1/?replicaSet=rs0',
  };
  const found = await doctor(['--root-key-file', one.rootKeyFile], down);
  expect(found.wrong).toEqual(['stores', 'permissions']);
  expect(found.says('stores')).toContain('mongodb is unavailable');
  expect(found.advice('stores')).toBe(
    'Try again in a moment; if that does not help, check that it runs, and that mongodb.url and mongodb.keys_url name ' +
      'it, with the right user and certificates.',
  );
  expect(found.advice('permissions')).toBe('See the finding about the stores.');
});

test('events that have been unsigned for more than an hour, and a checkpoint that the vault did not write, are reported', async () => {
  const service = await startTestService({ dataDir: join(tempDir(), 'data') });
  const { dataDir, rootKey } = service;
  await service.call('POST', '/tokens', { type: 'token', data: 'x' });
  await service.stop();
  const rootKeyFile = join(tempDir(), 'root.key');
  writeFileSync(rootKeyFile, `${rootKey.toString('hex')}\n`, { mode: 0o600 });
  const flags = ['--data', dataDir, '--root-key-file', rootKeyFile];
  await runJson(['clock', 'confirm', ...flags]);
  const unsigned = await doctor(flags);
  expect(unsigned.wrong).toEqual(['checkpoint']);
  expect(unsigned.says('checkpoint')).toMatch(/^no checkpoint signs the events since 2026-01-31T12:00:00\.000\+00:00 /);
  expect(unsigned.advice('checkpoint')).toBe(
    'Start the service, or a worker: it signs within an hour. If it is running, see its log.',
  );

  const running = await startService(flags);
  await until('a checkpoint', 60_000, async () => ((await doctor(flags)).wrong.length === 0 ? true : undefined));
  await running.stop();
  expect((await doctor(flags)).says('checkpoint')).toMatch(/^checkpoint \d+ of .* is signed by the key of this vault$/);
  tamperBehindTriggers(
    dataDir,
    'vault.db',
    `UPDATE events SET clear = json_set(clear, '$.signed_by', '${'0'.repeat(64)}') WHERE type = 'audit.checkpoint'`,
  );
  const forged = await doctor(flags);
  expect(forged.wrong).toEqual(['log']);
  expect(forged.says('log')).toMatch(
    /^something other than this vault changed the log: .* no valid authentication code$/,
  );
  expect(forged.advice('log')).toBe(seeWhatChanged);
});

const forgeNewest = `UPDATE events SET actor = 'attacker' WHERE position = (SELECT max(position) FROM events)`;

test('a log that was changed from outside while the service runs is reported', async () => {
  const { dataDir, flags } = await makeVault();
  const running = await startService(flags);
  tamperBehindTriggers(dataDir, 'vault.db', forgeNewest);
  const forged = await doctor(flags);
  expect(forged.wrong).toContain('log');
  expect(forged.says('log')).toContain('no valid authentication code');
  expect(forged.advice('log')).toBe(seeWhatChanged);
  await running.stop('SIGKILL');
});

test('if the newest event is forged while no service runs, doctor also reports the rest, and fixes nothing', async () => {
  const { dataDir, flags } = await makeVault();
  tamperBehindTriggers(dataDir, 'vault.db', forgeNewest);
  const plain = await doctor(flags);
  expect(plain.wrong.filter((check) => check === 'log')).toEqual(['log']);
  expect(plain.says('log')).toContain('no valid authentication code');
  expect(plain.advice('log')).toBe(seeWhatChanged);
  expect(plain.says('rows')).toMatch(/^\d+ rows checked: authentic and up to date$/);
  expect(plain.says('search index')).toMatch(/^matches the token rows/);
  const before = hashesOf(dataDir)['vault.db'];
  expect((await doctor([...flags, '--fix'])).wrong).toEqual(plain.wrong);
  expect(hashesOf(dataDir)['vault.db']).toBe(before);
});

test('a forged event of a token does not keep doctor from checking the rows', async () => {
  const { dataDir, flags, key } = await makeVault();
  const running = await startService(flags);
  await http('POST', `${running.address}/tokens`, { key, body: { type: 'token', data: 'value' } });
  tamperBehindTriggers(dataDir, 'vault.db', `UPDATE events SET actor = 'somebody' WHERE type = 'token.created'`);
  const { wrong, says } = await doctor(flags);
  expect(wrong).toContain('log');
  expect(says('rows')).toMatch(/^\d+ rows checked: authentic and up to date$/);
  await running.stop('SIGKILL');
});

test('stores and events from another version are reported as such', async () => {
  const { dataDir, rootKeyFile, flags } = await makeVault();
  await appendOfNewerVersion(dataDir, rootKeyFile);
  const events = await doctor(flags);
  expect(events.wrong).toEqual(['events']);
  expect(events.says('events')).toMatch(
    /^the event at position \d+ \(token\.created, version 9\) was written by a newer version$/,
  );
  expect(events.advice('events')).toBe('Start the version of Strongroom that wrote it.');
  tamper(dataDir, 'vault.db', `UPDATE projections SET version = 99 WHERE name = 'tokens'`);
  const newer = await doctor(flags);
  expect(newer.says('versions')).toBe('the projection tokens in vault.db was built by a newer version of Strongroom');
  expect(newer.advice('versions')).toBe('Start that version.');
  tamper(dataDir, 'vault.db', `UPDATE projections SET version = 0 WHERE name = 'tokens'`);
  const old = await doctor(flags);
  expect(old.wrong).toEqual(expect.arrayContaining(['versions']));
  expect(old.says('versions')).toBe('built by an older version: tokens 0');
  expect(old.advice('versions')).toBe('Start the service, or a worker: it rebuilds these projections.');
  const database = openVault(dataDir);
  database.pragma('user_version = 99');
  database.close();
  const schema = await doctor(flags);
  expect(schema.wrong).toEqual(['versions']);
  expect(schema.says('versions')).toMatch(/its format is 99, and this version has \d+$/);
  expect(schema.advice('versions')).toBe('Nothing was changed. Start the version that wrote it.');
});

test.each(['while the service runs', 'while it does not'])(
  'doctor and audit verify name rows that were changed outside the vault, %s',
  async (when) => {
    const { dir, dataDir, flags, key } = await makeVault();
    const keyFile = join(dir, 'key');
    writeFileSync(keyFile, `${key}\n`, { mode: 0o600 });
    await runJson(['tokens', 'create', ...flags, '--api-key-file', keyFile], { stdin: '{"type":"token","data":"x"}' });
    const plantClaim = `INSERT INTO claims VALUES ('planted', 9000000000000, '{"tokens":[]}', x'00')`;
    expect((await doctor(flags)).says('rows')).toMatch(/^\d+ rows checked: authentic and up to date$/);
    const service = when === 'while the service runs' ? await startService(flags) : null;
    expect(tamper(dataDir, 'vault.db', 'UPDATE token_rows_1 SET modified_at = 1')).toBe(1);
    const plant = `INSERT INTO api_keys SELECT 'ab', 'planted', id, NULL FROM directory WHERE kind = 'application' LIMIT 1`;
    expect(tamper(dataDir, 'vault.db', plant)).toBe(1);
    expect(tamper(dataDir, 'vault.db', plantClaim)).toBe(1);
    const found = await doctor(flags);
    expect(found.wrong).toContain('rows');
    expect(found.says('rows')).toMatch(
      /^the row of application .* is not authentic; the row of token token-.* is not authentic; the row of claim planted is not authentic$/,
    );
    expect(found.advice('rows')).toBe(rebuildRows);
    const { code, stderr } = await run(['audit', 'verify', ...flags]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/the row of application .* is not authentic; the row of token/);
    if (service !== null) await service.stop();
  },
);

describe('--fix on a vault whose rows and log were changed from outside', () => {
  /**
   * Creates a stopped vault with two live tokens. Its clock has advanced by three hours since their creation, so their
   * keys are old enough that `--fix` would destroy them if no event referred to them.
   */
  async function attacked() {
    const service = await startTestService({
      dataDir: join(tempDir(), 'data'),
      clock: manualClock(Date.now() - 10_800_000),
    });
    const { dataDir, rootKey, clock } = service;
    const create = async () => {
      const created = await service.call('POST', '/tokens', { type: 'token', data: 'x' });
      expect(created.status, created.text).toBe(201);
      return String(created.body['id']);
    };
    const [one, other] = [await create(), await create()];
    const [oneStream, otherStream] = [await streamOf(service, one), await streamOf(service, other)];
    await service.service.checkpointer.run('grown');
    clock.advance(10_800_000);
    await service.service.checkpointer.run('grown');
    await service.stop();
    const rootKeyFile = join(tempDir(), 'root.key');
    writeFileSync(rootKeyFile, `${rootKey.toString('hex')}\n`, { mode: 0o600 });
    const flags = ['--data', dataDir, '--root-key-file', rootKeyFile];
    /** Restarts the service, requests this token, and returns the status of the response. */
    const get = async (id: string) => {
      const again = await startTestService({ dataDir, rootKey, clock: manualClock(Date.now()) });
      const { status } = await again.call('GET', `/tokens/${id}`, undefined, { key: service.key });
      await again.stop();
      return status;
    };
    return { dataDir, flags, one, other, oneStream, otherStream, get };
  }

  test('planted deadlines do not end a token, and rows that belong to no token do not stop a check', async () => {
    const { dataDir, flags, one, other, oneStream, otherStream, get } = await attacked();
    const change = (sql: string, ...values: unknown[]) => expect(tamper(dataDir, 'vault.db', sql, ...values)).toBe(1);
    change('UPDATE token_rows_1 SET expires_at = 1, cvc_purge_at = 1 WHERE stream = ?', packStream(oneStream));
    const planted = 'ab'.repeat(32);
    const copied = tableColumns(dataDir, 'token_rows_1').filter((name) => !['row', 'stream', 'seq'].includes(name));
    change(
      `INSERT INTO token_rows_1 (stream, seq, ${copied.join()})
       SELECT unhex('${planted}'), 900000, ${copied.join()} FROM token_rows_1 WHERE stream = ?`,
      packStream(oneStream),
    );
    change('UPDATE token_rows_1 SET tenant = ?, expires_at = 1 WHERE stream = ?', 'another', packStream(otherStream));
    const found = await doctor(['--fix', ...flags]);
    // The planted row has terms that the search index does not contain, and moved rows change the counts of tokens, so
    // `doctor` reports the index and the counts too.
    expect(found.wrong).toEqual(['deadlines', 'search index', 'token counts', 'rows']);
    expect(found.says('rows')).toContain(`the row of token token-${planted} is not authentic`);
    expect(found.advice('rows')).toBe(rebuildRows);
    expect(found.advice('search index')).toBe('Run: strongroom projections rebuild tokens.');
    expect(found.advice('token counts')).toBe(
      'Find out who can write to vault.db, and run: strongroom projections rebuild tokens.',
    );
    // The row contains the time, so its MAC no longer matches.
    expect([await get(one), await get(other)]).toEqual([500, 500]);
    const rebuilt = await run(['projections', 'rebuild', 'tokens', '--yes', '--accept-new', ...flags]);
    expect(rebuilt, rebuilt.stderr).toMatchObject({ code: 0 });
    expect([await get(one), await get(other)]).toEqual([200, 200]);
  });

  test('a removed event does not cost a token its key: doctor reports the log, and destroys nothing', async () => {
    const { dataDir, flags, one, other, oneStream, get } = await attacked();
    const keys = () => livingKeysOf(dataDir);
    const before = keys();
    expect(
      tamperBehindTriggers(
        dataDir,
        'vault.db',
        `DELETE FROM events WHERE stream = x'${packStream(oneStream).toString('hex')}'`,
      ),
    ).toBe(1);
    const found = await doctor(['--fix', ...flags]);
    expect(found.wrong).toContain('log');
    expect(found.says('log')).toMatch(/something other than this vault changed the log/);
    expect(found.advice('log')).toBe(seeWhatChanged);
    expect(found.findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['stores', 'rows', 'copies']));
    expect(before.length).toBeGreaterThanOrEqual(2);
    expect(keys()).toEqual(before);
    // The row refers to the removed event for its ciphertext.
    expect([await get(one), await get(other)]).toEqual([500, 200]);
  });
});

function tableColumns(dataDir: string, table: string): readonly string[] {
  const database = openVault(dataDir);
  const columns = database.pragma(`table_info(${table})`) as readonly { readonly name: string }[];
  database.close();
  return columns.map(({ name }) => name);
}

/** Returns the ids of the data keys that are not destroyed. */
function livingKeysOf(dataDir: string): readonly string[] {
  const database = pinStatements(join(dataDir, 'keys.db'), { readonly: true });
  const ids = database.prepare('SELECT hex(id) FROM data_keys WHERE destroyed_at = ? ORDER BY id').pluck().all(never);
  database.close();
  return ids.map(String);
}

/** Appends an event with a version that only a newer version of the program would write. */
async function appendOfNewerVersion(dataDir: string, rootKeyFile: string): Promise<void> {
  const fail = (error: unknown) => {
    throw error;
  };
  const loaded = await loadRootKey({ file: rootKeyFile, dataDir });
  if (!loaded.ok) throw new Error(loaded.message);
  const stores = await openAuthenticStores(dataDir, loaded.key, { now: () => Date.now() }, fail);
  await stores.log.append('token-x', -1, [anEvent({ type: 'token.created', version: 9, time: Date.now() })]);
  await stores.close();
}
