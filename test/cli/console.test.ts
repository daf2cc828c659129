import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../support/certificate.js';
import { createBrowser, toListener } from '../support/console/browser.js';
import { startTestProvider } from '../support/console/provider.js';
import { freePort } from '../support/free-ports.js';
import { http, loggedAddress, makeVault, run, runJson, startService, tempDir } from '../support/process.js';

const code = /^[0-9A-Z]{4}(?:-[0-9A-Z]{4}){4}$/;

test('--dev serves the console and prints its address, and an operator signs in with a code that a command printed', async () => {
  const cwd = tempDir();
  const service = await startService(['--dev', '--console-port', '0'], { cwd });
  const address = await loggedAddress(service, 'console_address');
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(service.stderr()).toContain(`Open the console at ${address}`);
  const page = await http('GET', `${address}/sign-in`);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Operator code')]);

  const { code: printed } = await runJson(['console', 'sign-in'], { cwd });
  expect(printed).toMatch(code);
  const csrf = /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const cookie = String(page.headers['set-cookie']).split(';')[0] ?? '';
  const form = new URLSearchParams({ _csrf: csrf, name: 'Ada', operator_code: String(printed) });
  const signedIn = await fetch(`${address}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie },
    body: form,
  });
  expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/']);
  const session = signedIn.headers.getSetCookie().find((text) => text.includes('strongroom-session')) ?? '';
  const overview = await http('GET', address, { headers: { cookie: session.split(';')[0] ?? '' } });
  expect(overview.text).toContain('vault.db');
  expect(service.stdout()).not.toContain(String(printed));
  expect(await service.stop()).toMatchObject({ code: 0 });
  await expect(http('GET', address)).rejects.toThrow();
});

test('in production, there is no console unless the settings enable it', async () => {
  const { flags } = await makeVault();
  const service = await startService([...flags, '--admin-port', 'off']);
  const code = await run(['console', 'sign-in', ...flags]);
  expect(code).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Set console.enabled to true') });
  const { stdout, stderr } = await service.stop();
  expect(stdout + stderr).not.toContain('console');
  const own = ['--console-enabled', '--console-port', '0', '--console-allowed-hosts', 'vault.example'];
  const asked = await startService([...flags, '--admin-port', 'off', ...own]);
  const page = `${await loggedAddress(asked, 'console_address')}/sign-in`;
  expect((await run(['console', 'sign-in', ...flags])).code).toBe(0);
  expect((await http('GET', page)).status).toBe(200);
  expect((await http('GET', page, { headers: { host: 'vault.example' } })).status).toBe(200);
  expect((await http('GET', page, { headers: { host: 'evil.example' } })).status).toBe(421);
  await asked.stop();
});

test('with a certificate, the console serves only https', async () => {
  const { flags, dir } = await makeVault();
  const files = makeCertificate(dir, 'console');
  const service = await startService([
    ...flags,
    '--admin-port',
    'off',
    '--tls-cert',
    files.cert,
    '--tls-key',
    files.key,
    '--console-enabled',
    '--console-port',
    '0',
    '--console-host',
    '0.0.0.0',
    '--console-allowed-hosts',
    'vault.example',
  ]);
  const address = (await loggedAddress(service, 'console_address')).replace('0.0.0.0', '127.0.0.1');
  const ca = readFileSync(files.cert);
  const page = await http('GET', `${address}/sign-in`, { ca });
  expect(page.status).toBe(200);
  expect(page.headers['strict-transport-security']).toBe('max-age=31536000');
  await expect(http('GET', address.replace('https', 'http'))).rejects.toThrow();
  await service.stop();
});

test('if another program uses the configured port, the service does not start', async () => {
  const { flags } = await makeVault();
  const taken = createServer();
  onTestFinished(() => void taken.close());
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { readonly port: number };
  const ended = await run(['serve', '--port', '0', ...flags, '--console-enabled', '--console-port', String(port)]);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
  expect(ended.stderr).toContain('--console-port');
});

test('without a service, the command prints no code', async () => {
  const { flags, dataDir } = await makeVault();
  const ended = await run(['console', 'sign-in', ...flags]);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain(`no service is running on ${dataDir}`);
  expect(await run(['console', 'sign-in', ...flags, '--name', 'Ada'])).toMatchObject({ code: 2, stdout: '' });
  expect(await run(['console', 'sign-in', '--data', join(tempDir(), 'none')])).toMatchObject({ code: 1, stdout: '' });
});

test('if a client secret cannot be read, is empty or is exposed, the service refuses to start and gives the reason', async () => {
  const { flags, dir } = await makeVault();
  const secretFile = join(dir, 'client-secret');
  const groups = JSON.stringify([{ group: 'operators', operator: true }]);
  const own = [
    '--console-enabled',
    '--console-port',
    '0',
    '--console-public-url',
    'http://127.0.0.1:8090',
    '--console-oidc-issuer',
    'http://127.0.0.1:1',
    '--console-oidc-client-id',
    'strongroom',
    '--console-oidc-client-secret-file',
    secretFile,
    '--console-oidc-groups',
    groups,
  ];
  const start = () => run(['serve', ...flags, '--port', '0', '--admin-port', 'off', ...own]);
  expect(await start()).toMatchObject({ code: 1, stderr: expect.stringContaining('client-secret cannot be read') });
  writeFileSync(secretFile, '\n', { mode: 0o644 });
  expect(await start()).toMatchObject({ code: 1, stderr: expect.stringContaining(`Run: chmod 600 ${secretFile}`) });
  chmodSync(secretFile, 0o600);
  expect(await start()).toMatchObject({ code: 1, stderr: expect.stringContaining('client-secret is empty') });
  writeFileSync(secretFile, 'a secret\n');
  // The service starts even though the identity provider is not running.
  const service = await startService([...flags, '--admin-port', 'off', ...own]);
  const page = await http('GET', `${await loggedAddress(service, 'console_address')}/sign-in`);
  expect(page.text).toContain('Sign in with your identity provider');
  expect(await service.stop()).toMatchObject({ code: 0 });
});

test('a person signs in with the identity provider', async () => {
  const { flags, dir } = await makeVault();
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const provider = await startTestProvider(publicUrl, { grace: { name: 'Grace Hopper', groups: ['operators'] } });
  const secretFile = join(dir, 'client-secret');
  writeFileSync(secretFile, provider.clientSecret, { mode: 0o600 });
  const settings = {
    port,
    'public-url': publicUrl,
    'oidc-issuer': provider.issuer,
    'oidc-client-id': provider.clientId,
    'oidc-client-secret-file': secretFile,
    'oidc-scopes': 'openid,profile,groups',
    'oidc-groups': JSON.stringify([{ group: 'operators', operator: true }]),
  };
  const own = Object.entries(settings).flatMap(([name, value]) => [`--console-${name}`, String(value)]);
  const service = await startService([...flags, '--admin-port', 'off', '--console-enabled', ...own]);
  const browser = createBrowser(toListener(publicUrl));
  await browser.get('/sign-in');
  const { text } = await browser.post('/sign-in/provider');
  const [, address = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(text) ?? [];
  const callback = await provider.signIn(address.replaceAll('&amp;', '&'), 'grace');
  expect((await browser.get(callback.slice(publicUrl.length))).status).toBe(200);
  const overview = await browser.get('/');
  expect([overview.status, overview.text]).toEqual([200, expect.stringContaining('Grace Hopper')]);
  expect(overview.text).toContain('vault.db');
  expect(await service.stop()).toMatchObject({ code: 0 });
});
