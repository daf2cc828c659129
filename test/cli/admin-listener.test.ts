import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { http, loggedAddress, makeVault, run, startService, until } from '../support/process.js';

const adminPort = ['--admin-port', '0'];

test('metrics and detailed health are served by a separate listener on loopback, which closes with the service', async () => {
  const { flags, key } = await makeVault();
  const service = await startService([...flags, ...adminPort]);
  const admin = await loggedAddress(service, 'admin_address');
  expect(admin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await http('POST', `${service.address}/tokens`, { key, body: { type: 'token', data: 'value' } });
  expect((await http('GET', `${admin}/metrics`)).text).toContain('route="/tokens",method="POST",status="201"} 1\n');
  expect((await http('GET', `${admin}/health/ready`)).body).toMatchObject({ status: 'ready', reasons: [] });
  expect((await http('GET', `${service.address}/metrics`)).status).toBe(404);
  expect((await http('GET', `${admin}/tokens/x`, { key })).status).toBe(404);
  // An idle client takes one of the few connections only for a short time.
  expect((await fetch(`${admin}/health/live`)).headers.get('keep-alive')).toBe('timeout=5');
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
  await expect(http('GET', `${admin}/metrics`)).rejects.toThrow();
});

test('if the setting is off, there is no admin listener', async () => {
  const { flags } = await makeVault();
  const service = await startService([...flags, '--admin-port', 'off']);
  expect((await http('GET', `${service.address}/health/ready`)).status).toBe(200);
  expect((await service.stop()).stdout).not.toContain('admin');
});

test('if another program uses the configured port, the service does not start and creates nothing', async () => {
  const { flags } = await makeVault();
  const taken = createServer();
  onTestFinished(() => void taken.close());
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { readonly port: number };
  const ended = await run(['serve', '--port', '0', ...flags, '--admin-port', String(port)]);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
  expect(ended.stderr).toContain('--admin-port');
});

test('if the default port is in use, the service runs without an admin listener', async () => {
  const { flags } = await makeVault();
  const taken = createServer();
  onTestFinished(() => void taken.close());
  // Another test's service may occupy the port, and could release it before this test's service starts.
  await until('the default port', 150_000, async () => {
    taken.listen(9464, '127.0.0.1');
    return once(taken, 'listening').catch(() => undefined);
  });
  const service = await startService(flags);
  expect((await http('GET', `${service.address}/health/ready`)).status).toBe(200);
  const { stdout, code } = await service.stop();
  expect(code).toBe(0);
  expect(stdout).toContain('there is no admin listener');
});

test.each(['65536', '-1', 'on', ''])('--admin-port %s is a usage error', async (value) => {
  const ended = await run(['config', 'print', `--admin-port=${value}`]);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('must be a whole number from 0 to 65535, or off');
});

test('the configured limits take effect', async () => {
  const { flags, key } = await makeVault();
  const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '2', STRONGROOM_RATE_LIMIT_AUTH_FAILURES: '1' };
  const service = await startService([...flags, '--rate-limit-window-seconds', '3600', '--admin-port', 'off'], { env });
  const ask = async (as: string) => (await http('GET', `${service.address}/tokens/unknown`, { key: as })).status;
  expect([await ask(key), await ask(key), await ask(key)]).toEqual([404, 404, 429]);
  expect([await ask('nonsense'), await ask('nonsense')]).toEqual([401, 429]);
});
