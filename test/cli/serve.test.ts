import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../support/free-ports.js';
import {
  http,
  makeVault,
  type RunOptions,
  run,
  runJson,
  spawnService,
  startService,
  until,
} from '../support/process.js';
import { canMount } from '../support/small-disk.js';

const token = { type: 'token', data: 'value' };

test('stdout contains only JSON lines, one of which has the address, and only the owner can use the socket', async () => {
  const vault = await makeVault();
  const service = await startService(vault.flags);
  expect(service.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await http('GET', `${service.address}/health/ready`)).toMatchObject({
    status: 200,
    body: { status: 'ready' },
  });
  const created = await http('POST', `${service.address}/tokens`, { key: vault.key, body: token });
  expect(created.status).toBe(201);
  expect((await http('GET', `${service.address}/tokens/not-there`, { key: vault.key })).status).toBe(404);
  // The program is bundled. The bundler could drop a check that the tests of single modules find.
  expect((await http('GET', `${service.address}/tokens?x=%ff`, { key: vault.key })).status).toBe(400);
  expect(statSync(join(vault.dataDir, 'control.sock')).mode & 0o777).toBe(0o600);

  const ended = await service.stop();
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  const lines = ended.stdout.trimEnd().split('\n');
  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(parsed).toContainEqual(
    expect.objectContaining({
      level: 'info',
      route: '/tokens',
      method: 'POST',
      status: 201,
      trace_id: expect.any(String),
    }),
  );
  expect(parsed).toContainEqual(
    expect.objectContaining({ msg: `Strongroom listens on ${service.address}`, address: service.address }),
  );
  // The service logs health probes only at debug level, but logs every step of its shutdown.
  expect(parsed.filter(({ route }) => route === '/health/ready')).toEqual([]);
  expect(parsed.at(-1)).toMatchObject({ level: 'info', msg: 'stopped' });
  expect(parsed).toContainEqual(
    expect.objectContaining({ route: '/tokens/:id', status: 404, code: 'token_not_found' }),
  );
  const known = [
    'level',
    'time',
    'msg',
    'route',
    'method',
    'status',
    'duration_ms',
    'trace_id',
    'application_id',
    'admin_address',
    'err',
    'address',
    'version',
    'profile',
    'role',
    'code',
    'delay_seconds',
  ];
  expect(parsed.flatMap((line) => Object.keys(line)).filter((field) => !known.includes(field))).toEqual([]);
  expect(existsSync(join(vault.dataDir, 'control.sock'))).toBe(false);
});

test('no data from requests reaches the output, not even through errors', async () => {
  const { flags, key, dataDir } = await makeVault();
  const service = await startService([...flags, '--log-level', 'trace']);
  const marker = 'mrk4711x';
  const base = service.address;
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    http(method, base + path, {
      key,
      ...(body === undefined ? {} : { body }),
      headers: { 'user-agent': marker, cookie: marker, ...headers },
    });
  const id = `id-${marker}`;
  const statuses = [
    await call('POST', '/tokens', { id, type: 'token', data: marker, metadata: { [marker]: marker } }),
    await call('GET', `/tokens/${id}?q=${marker}`),
    await call('PATCH', `/tokens/${id}`, { data: `${marker}-2` }, { 'service-idempotency-key': marker }),
    await call('POST', '/tokens', { id: `id-${marker}`, type: 'token', data: 1 }),
    await call('POST', '/tokens', { type: 'token', data: 1, mask: `{{ data | ${marker} }}` }),
    await call('POST', '/tokens', { type: marker, data: 1 }),
    await call('GET', `/${marker}/${marker}`),
    await call('GET', `/tokens/%E0%A4%A${marker}`),
    await call(`DELETE`, `/tokens/${id}`, undefined, { 'if-match': marker }),
    await http('GET', `${base}/tokens/${id}`, { key: `sr_private_${marker}` }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([201, 200, 200, 409, 400, 400, 404, 400, 412, 401]);
  const wire = connect(Number(new URL(base).port), '127.0.0.1');
  wire.end(`GARBAGE ${marker}\r\n\r\n`);
  await new Promise((resolve) => wire.resume().on('close', resolve));
  await run(['tokens', 'get', `no-${marker}`, '--api-key-file', '-', '--data', dataDir], { stdin: key });
  const { stdout, stderr } = await service.stop();
  expect(stdout).toContain('/tokens/:id');
  expect(stdout + stderr).not.toContain(marker);
  expect(stdout + stderr).not.toContain(key);
});

test('after SIGTERM, requests in flight finish, new ones are rejected, and the exit code is 0', async () => {
  const { flags, key } = await makeVault();
  const service = await startService(flags);
  const { port } = new URL(service.address);
  const body = JSON.stringify({ id: 'in-flight', type: 'token', data: 'value' });
  const wire = connect(Number(port), '127.0.0.1');
  let answer = '';
  wire.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  wire.write(
    `POST /tokens HTTP/1.1\r\nHost: x\r\nService-Api-Key: ${key}\r\nContent-Type: application/json\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  // The `100 Continue` response shows that the service has received the head of the request.
  await until('100 Continue', 30_000, () => (answer.includes('100 Continue') ? true : undefined));
  wire.write(body.slice(0, 10));
  service.signal('SIGTERM');
  await until('the closed port', 30_000, async () => {
    const refused = await http('GET', `${service.address}/health/live`).then(
      () => false,
      () => true,
    );
    return refused ? true : undefined;
  });
  wire.write(body.slice(10));
  const { code, stderr } = await service.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(answer).toContain('HTTP/1.1 201');

  const again = await startService(flags);
  expect(await http('GET', `${again.address}/tokens/in-flight`, { key })).toMatchObject({ status: 200 });
  expect(await again.stop('SIGINT')).toMatchObject({ code: 0 });
});

test('during the stop, a connection that sends another request gets its response and is then closed', async () => {
  const { flags, key } = await makeVault();
  const service = await startService(flags);
  const wire = connect(Number(new URL(service.address).port), '127.0.0.1');
  const request = (id: string) => {
    const body = JSON.stringify({ id, type: 'token', data: 'value' });
    const head = `POST /tokens HTTP/1.1\r\nHost: x\r\nService-Api-Key: ${key}\r\nContent-Type: application/json\r\n`;
    return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  let answers = '';
  wire.setEncoding('utf8').on('data', (text: string) => {
    answers += text;
  });
  const closed = new Promise((resolve) => wire.on('close', resolve));
  const ids = Array.from({ length: 20 }, (_, index) => `one-after-another-${index}`);
  wire.write(ids.map(request).join(''));
  await until('the first answer', 30_000, () => (answers.includes('HTTP/1.1 201') ? true : undefined));
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
  await closed;
  const statuses = answers.match(/HTTP\/1\.1 \d+/g) ?? [];
  expect(new Set(statuses)).toEqual(new Set(['HTTP/1.1 201']));

  const again = await startService(flags);
  for (const [index, id] of ids.entries()) {
    const { status } = await http('GET', `${again.address}/tokens/${id}`, { key });
    if (index < statuses.length) expect(status, id).toBe(200);
  }
});

test.runIf(existsSync('/dev/full'))('a full disk under the log does not stop the service', async () => {
  const { dataDir, flags } = await makeVault();
  const service = spawnService(flags, { fillsDisk: 'stdout' });
  let hasEnded = false;
  service.ended.finally(() => {
    hasEnded = true;
  });
  // Without a root key, only a running service runs this command.
  await until('the service', 60_000, async () => {
    if (hasEnded) throw new Error('the service stopped');
    const { code } = await run(['tenants', 'list', '--data', dataDir]);
    return code === 0 ? true : undefined;
  });
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
});

test('several simultaneous signals stop the service once', async () => {
  const { flags } = await makeVault();
  const service = await startService(flags);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) service.signal(signal);
  expect(await service.ended).toMatchObject({ code: 0, stderr: '' });
});

test('a second serve on the same data is rejected, and does not disturb the first one', async () => {
  const { flags, key } = await makeVault();
  const service = await startService(flags);
  const second = await run(['serve', '--port', '0', ...flags]);
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(second.stderr).toMatch(/another Strongroom process uses .*Stop it first/);
  expect(await http('POST', `${service.address}/tokens`, { key, body: token })).toMatchObject({ status: 201 });
  expect(await runJson(['tenants', 'list', ...flags])).toMatchObject({ tenants: [{ name: 'default' }] });
});

test('a socket and a lock that kill -9 left behind do not prevent the next start', async () => {
  const { flags, key, dataDir } = await makeVault();
  const first = await startService(flags);
  const created = await http('POST', `${first.address}/tokens`, { key, body: token });
  await first.stop('SIGKILL');
  expect(existsSync(join(dataDir, 'control.sock'))).toBe(true);
  expect(await runJson(['tenants', 'list', ...flags])).toMatchObject({ tenants: [{ name: 'default' }] });
  const second = await startService(flags);
  const id = String(created.body['id']);
  expect(await http('GET', `${second.address}/tokens/${id}`, { key })).toMatchObject({ status: 200 });
  expect(await runJson(['tokens', 'get', id, '--api-key-file', '-', ...flags], { stdin: key })).toEqual(created.body);
});

test('header aliases from variables work for the key, the trace id and the idempotency key', async () => {
  const { flags, key } = await makeVault();
  const env = {
    STRONGROOM_AUTH_HEADER_ALIASES: 'X-API-KEY,Y-API-KEY',
    STRONGROOM_HTTP_TRACE_HEADER_ALIASES: 'X-Trace',
    STRONGROOM_HTTP_IDEMPOTENCY_HEADER_ALIASES: 'X-Once',
  };
  const { address } = await startService(flags, { env });
  const send = (name: string) =>
    http('POST', `${address}/tokens`, {
      body: token,
      headers: { [name]: key, 'x-trace': 'trace-1', 'x-once': 'once-1' },
    });
  const first = await send('Y-Api-Key');
  expect(first).toMatchObject({ status: 201, headers: { 'service-trace-id': 'trace-1' } });
  expect((await send('x-api-key')).body['id']).toBe(first.body['id']);
  expect((await send('service-api-key')).body['id']).toBe(first.body['id']);
  expect(await send('z-api-key')).toMatchObject({ status: 401 });
});

test('settings come from the file, then from variables, then from flags', async () => {
  const { flags, dataDir } = await makeVault();
  const env = { STRONGROOM_DATA: join(dataDir, 'nowhere'), STRONGROOM_HOST: '127.0.0.2' };
  const { address } = await startService([...flags, '--host', '127.0.0.3'], { env });
  expect(address).toContain('http://127.0.0.3:');
});

test('a root key command works like a root key file', async () => {
  const { dataDir, rootKeyFile, key } = await makeVault();
  const env = { STRONGROOM_ROOT_KEY_COMMAND: JSON.stringify(['cat', rootKeyFile]) };
  const { address } = await startService(['--data', dataDir], { env });
  expect(await http('POST', `${address}/tokens`, { key, body: token })).toMatchObject({ status: 201 });
});

test('a SIGTERM during the start, as soon as the service is ready, stops the service like any other', async () => {
  const { flags, dataDir } = await makeVault();
  for (let round = 0; round < 3; round += 1) {
    const port = await freePort();
    const starting = spawnService([...flags, '--port', String(port)]);
    await until('readiness', 60_000, async () => {
      const answer = await http('GET', `http://127.0.0.1:${port}/health/ready`).catch(() => null);
      return answer?.status === 200 || undefined;
    });
    const { code, signal, stdout, stderr } = await starting.stop();
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
    expect(stdout).toContain('"msg":"stopped"');
    expect(existsSync(join(dataDir, 'control.sock'))).toBe(false);
  }
});

describe('a signal before the stores are open', () => {
  /** Starts a service whose root key command does not end, and waits until it runs that command. */
  async function opening(options: RunOptions) {
    const { dir, dataDir } = await makeVault();
    const begun = join(dir, 'begun');
    const env = { STRONGROOM_ROOT_KEY_COMMAND: JSON.stringify(['sh', '-c', `touch ${begun}; exec sleep 60`]) };
    const service = spawnService(['--data', dataDir], { ...options, env });
    await until('the root key command', 60_000, () => existsSync(begun) || undefined);
    return service;
  }

  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends the process immediately', async (signal) => {
    const service = await opening({});
    expect(await service.stop(signal)).toEqual({ code: null, signal, stdout: '', stderr: '' });
  });

  test.runIf(canMount).each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s also ends a process with the id 1, such as in a container', async (signal, code) => {
    const { pid, ended } = await opening({ isFirstProcess: true });
    const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    process.kill(Number(first), signal);
    expect(await ended).toEqual({ code, signal: null, stdout: '', stderr: '' });
  });
});
