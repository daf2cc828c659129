import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../support/certificate.js';
import { http, makeVault, run, runJson, spawnCommand, startService, until } from '../support/process.js';

const secret = 'siem-secret-token';

test('a stream delivers every record even if it is killed and its receiver and service go away and return', async () => {
  const { flags, dir, key } = await makeVault();
  let service = await startService(flags);
  const create = async (data: string) => {
    const body = { type: 'token', data };
    expect((await http('POST', `${service.address}/tokens`, { key, body })).status).toBe(201);
  };
  const received = new Set<string>();
  let isDown = true;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (isDown || request.headers['x-siem'] !== secret) return void response.writeHead(503).end();
      for (const line of Buffer.concat(parts).toString().trimEnd().split('\n')) {
        received.add(JSON.parse(line).record_id);
      }
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const headerFile = join(dir, 'headers');
  writeFileSync(headerFile, `X-Siem: ${secret}\n`, { mode: 0o600 });
  const args = ['audit', 'stream', '--to-url', `http://127.0.0.1:${port}/x`, '--header-file', headerFile];
  const verb = [...args, '--checkpoint', join(dir, 'checkpoint'), ...flags];
  const told: string[] = [];
  const start = () => {
    const child = spawnCommand(verb);
    return {
      async stop(signal: NodeJS.Signals) {
        const ended = await child.stop(signal);
        told.push(ended.stdout, ended.stderr);
        return ended;
      },
    };
  };
  let exports = 0;
  const all = async () => {
    exports += 1;
    const out = join(dir, `all-${exports}.jsonl`);
    await runJson(['audit', 'export', '--format', 'jsonl', '--out', out, ...flags]);
    const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
    return lines.map((line): string => JSON.parse(line).record_id);
  };
  const delivered = async () => {
    const ids = await all();
    await until('every record', 60_000, async () => (ids.every((id) => received.has(id)) ? true : undefined));
  };

  const first = start();
  await create('one');
  isDown = false;
  await delivered();
  await first.stop('SIGKILL');
  await create('two');
  const second = start();
  await delivered();
  // The stream does not lock the vault, so the service can be stopped and started while the stream runs.
  await service.stop();
  service = await startService(flags);
  await create('three');
  await delivered();
  expect(await second.stop('SIGTERM')).toMatchObject({ code: 0, stdout: expect.stringContaining('sent') });
  expect(told.join()).not.toContain(secret);
  await service.stop();
  // With no service running, `stream --once` opens the data itself.
  expect(await runJson([...verb, '--once'])).toMatchObject({ type: 'summary', records: expect.any(Number) });
});

test('a bundle from the command line is complete or does not exist', async () => {
  const { flags, dir, key, managementKey } = await makeVault();
  const [keyFile, managementFile] = [join(dir, 'key'), join(dir, 'management')];
  writeFileSync(keyFile, key, { mode: 0o600 });
  writeFileSync(managementFile, managementKey, { mode: 0o600 });
  const created = await runJson(['tokens', 'create', ...flags, '--api-key-file', keyFile], {
    stdin: '{"type":"token","data":"secret-value"}',
  });
  const id = String(created['id']);
  const as = [...flags, '--api-key-file', managementFile];
  const out = join(dir, 'evidence');
  const made = await runJson(['audit', 'bundle', '--tokens', '-', '--out', out, ...as], { stdin: `${id}\n\n` });
  expect(made).toEqual({ type: 'summary', events: 1, reads: expect.any(Number), erasures: 0 });
  const again = await run(['audit', 'bundle', id, '--out', out, ...as]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already exists; nothing was changed') });
  mkdirSync(join(dir, 'empty'));
  expect((await run(['audit', 'bundle', id, '--out', join(dir, 'empty'), ...as])).code).toBe(1);
  const unknown = await run(['audit', 'bundle', 'never', '--out', join(dir, 'none'), ...as]);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('has ever existed') });
  expect(existsSync(join(dir, 'none'))).toBe(false);
  expect(readdirSync(dir).filter((name) => name.includes('.part-'))).toEqual([]);
});

test.each([
  ['a bundle of nothing', ['bundle', '--out', 'x'], 'specify either token ids'],
  [
    'a bundle of ids and a period',
    ['bundle', 'a', '--from', '2026-01-01', '--to', '2026-01-02', '--out', 'x'],
    'either',
  ],
  ['a period without an end', ['bundle', '--from', '2026-01-01', '--out', 'x'], 'needs --from and --to'],
  ['a reversed period', ['bundle', '--from', '2026-01-02', '--to', '2026-01-01', '--out', 'x'], 'after --from'],
  ['a period with invalid times', ['bundle', '--from', 'x', '--to', 'y', '--out', 'x'], 'a date or a date-time'],
  ['a stream to nowhere', ['stream', '--checkpoint', 'c'], 'either --to-file or --to-url'],
  [
    'a stream to a file and a URL',
    ['stream', '--checkpoint', 'c', '--to-file', 'f', '--to-url', 'https://x'],
    'either',
  ],
  [
    'a stream to its own checkpoint',
    ['stream', '--checkpoint', 'c', '--to-file', './c'],
    '--to-file and --checkpoint must name two different files',
  ],
  ['plain HTTP to another machine', ['stream', '--checkpoint', 'c', '--to-url', 'http://siem.example/'], 'https://'],
  [
    'a password in an address',
    ['stream', '--checkpoint', 'c', '--to-url', 'https://a:b@siem.example/'],
    '--header-file',
  ],
  ['another protocol', ['stream', '--checkpoint', 'c', '--to-url', 'ftp://siem.example/'], 'https:// or http://'],
  ['an unknown format', ['export', '--format', 'xml', '--out', 'x'], 'log, csv or jsonl'],
  ['a time as a position', ['export', '--from', '2026-01-01', '--out', 'x'], 'positions in the log'],
] as const)('%s is a usage error', async (_, args, message) => {
  const { flags, dir } = await makeVault();
  const ended = await run(['audit', ...args, ...flags], { cwd: dir });
  expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  expect(readdirSync(dir).filter((name) => name === 'x' || name === 'c')).toEqual([]);
});

/** Threat: another server receives the access log, and the secret in the header. */
test('a stream checks the certificate of the receiver, even if NODE_TLS_REJECT_UNAUTHORIZED=0 is set', async () => {
  const { flags, dir } = await makeVault();
  const { cert, key } = makeCertificate(dir, 'siem');
  let requests = 0;
  const server = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    requests += 1;
    request.resume().on('end', () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const args = ['--to-url', `https://127.0.0.1:${port}/`, '--checkpoint', join(dir, 'checkpoint'), '--once'];
  const stream = (env: Readonly<Record<string, string>>) => run(['audit', 'stream', ...args, ...flags], { env });
  const rejected = await stream({ NODE_TLS_REJECT_UNAUTHORIZED: '0' });
  expect(rejected).toMatchObject({ code: 1, stderr: expect.stringMatching(/certificate .*NODE_EXTRA_CA_CERTS/) });
  expect(rejected.stderr).not.toContain('Warning');
  expect(requests).toBe(0);
  expect(await stream({ NODE_EXTRA_CA_CERTS: cert })).toMatchObject({ code: 0 });
  expect(requests).toBeGreaterThan(0);
});

test('an error in a header file names the line, without quoting it', async () => {
  const { flags, dir } = await makeVault();
  const headerFile = join(dir, 'headers');
  writeFileSync(headerFile, `X-Good: 1\n${secret}\n`, { mode: 0o600 });
  const args = ['--to-url', 'https://siem.example/', '--header-file', headerFile, '--checkpoint', join(dir, 'c')];
  const ended = await run(['audit', 'stream', ...args, ...flags]);
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('line 2 of') });
  expect(ended.stderr).not.toContain(secret);
});
