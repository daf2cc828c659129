import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificate, setValidity } from '../support/certificate.js';
import {
  hashesOf,
  http,
  jsonResult,
  makeVault,
  run,
  spawnService,
  startService,
  tempDir,
  until,
} from '../support/process.js';

const program = fileURLToPath(new URL('../../dist/bin/strongroom.js', import.meta.url));
/** True if the program `script` from util-linux is available. It runs a program in a terminal. */
const hasScript = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') ?? false;

/** Returns the certificate that the service at this address presents to clients. */
function shownBy(address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(`${address}/health/live`, { agent: false, rejectUnauthorized: false }, (response) => {
      const { subject } = (response.socket as TLSSocket).getPeerCertificate();
      response.resume().on('end', () => resolve(String(subject.CN)));
    });
    call.on('error', reject).end();
  });
}

test('with a certificate, the service serves only https, and SIGHUP reloads the certificate', async () => {
  const { flags, key, dir } = await makeVault();
  const [first, second] = [makeCertificate(dir, 'first'), makeCertificate(dir, 'second')];
  const inUse = { cert: join(dir, 'tls.pem'), key: join(dir, 'tls.key') };
  const take = (from: typeof first) => {
    copyFileSync(from.cert, inUse.cert);
    copyFileSync(from.key, inUse.key);
  };
  take(first);
  // With a valid certificate, the service can listen on any address, not only on loopback.
  const tls = ['--tls-cert', inUse.cert, '--tls-key', inUse.key, '--host', '0.0.0.0'];
  const service = await startService([...flags, ...tls]);
  const address = service.address.replace('0.0.0.0', '127.0.0.1');
  expect(address).toMatch(/^https:/);
  const ca = readFileSync(first.cert);
  const body = { type: 'token', data: 'value' };
  expect(await http('POST', `${address}/tokens`, { key, body, ca })).toMatchObject({ status: 201 });
  await expect(http('GET', `${address.replace('https', 'http')}/health/live`)).rejects.toThrow();
  expect(await shownBy(address)).toBe('first');

  take(second);
  service.signal('SIGHUP');
  await until('the second certificate', 30_000, async () => ((await shownBy(address)) === 'second' ? true : undefined));
  const message = 'the TLS certificate could not be reloaded; the old one stays in use: ';
  const bad: readonly [string, () => void, string][] = [
    [
      'a certificate of another key type',
      () => copyFileSync(makeCertificate(dir, 'rsa', undefined, 'rsa').cert, inUse.cert),
      `the TLS certificate ${inUse.cert} and the key ${inUse.key} do not match`,
    ],
    ['a text', () => writeFileSync(inUse.cert, 'no certificate'), 'are not PEM files'],
    ['no file', () => rmSync(inUse.cert), `the TLS certificate ${inUse.cert} does not exist. Set --tls-cert`],
  ];
  for (const [what, write, reason] of bad) {
    const earlier = service.stdout().length;
    write();
    service.signal('SIGHUP');
    await until(`the log line about ${what}`, 30_000, () =>
      service.stdout().slice(earlier).includes(`"msg":"${message}`) ? true : undefined,
    );
    expect(service.stdout().slice(earlier), what).toContain(reason);
    expect(await shownBy(address), what).toBe('second');
  }
  expect(await service.stop()).toMatchObject({ code: 0 });
});

test('an expired certificate is reported by doctor, in the log of the start and after SIGHUP', async () => {
  const { flags, dir } = await makeVault();
  const files = makeCertificate(dir, 'first');
  const doctor = async () => {
    const env = { STRONGROOM_TLS_CERT: files.cert, STRONGROOM_TLS_KEY: files.key };
    const { findings } = jsonResult(await run(['doctor', '--json', ...flags], { env })) as {
      readonly findings: readonly { readonly check: string; readonly state: string; readonly says: string }[];
    };
    return findings.find(({ check }) => check === 'certificate');
  };
  setValidity(files, 10);
  expect(await doctor()).toMatchObject({ state: 'ok' });
  setValidity(files, 6);
  expect(await doctor()).toMatchObject({ state: 'problem', do: 'Renew it, then send SIGHUP to the service.' });
  setValidity(files, -1);
  expect(await doctor()).toMatchObject({ state: 'problem', says: expect.stringMatching(/first\.pem expires at 20/) });
  const service = await startService([...flags, '--tls-cert', files.cert, '--tls-key', files.key]);
  const warning =
    /"level":"warn",[^\n]*the TLS certificate \S+first\.pem expired at 20\S+Z\. Renew it, then send SIGHUP/g;
  expect(service.stdout().match(warning)).toHaveLength(1);
  service.signal('SIGHUP');
  await until('the second warning', 20_000, () => (service.stdout().match(warning)?.length === 2 ? true : undefined));
  setValidity(files, 10);
  const earlier = service.stdout().length;
  service.signal('SIGHUP');
  await until('the reload', 20_000, () =>
    service.stdout().slice(earlier).includes('the TLS certificate was reloaded') ? true : undefined,
  );
  expect(await service.stop()).toMatchObject({ code: 0 });
  expect(service.stdout().match(warning)).toHaveLength(2);
});

test('without TLS, SIGHUP ends the process neither during the start nor later, and the log says why nothing happens', async () => {
  const { flags } = await makeVault();
  const starting = spawnService(flags);
  const catches = (pid: number) => {
    const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
    return (BigInt(`0x${caught}`) & 1n) === 1n ? true : undefined;
  };
  await until('the handler of SIGHUP', 30_000, () => catches(starting.pid));
  process.kill(starting.pid, 'SIGHUP');
  const service = await starting.ready();
  const linesOf = () => service.stdout().split('serves no TLS certificate, so there is nothing to reload').length - 1;
  await until('the line about the first signal', 30_000, () => (linesOf() === 1 ? true : undefined));
  service.signal('SIGHUP');
  await until('the line about the second signal', 30_000, () => (linesOf() === 2 ? true : undefined));
  expect(await http('GET', `${service.address}/health/ready`)).toMatchObject({ status: 200 });
  expect(await service.stop()).toMatchObject({ code: 0 });
});

test('without TLS, an address that other machines can reach is rejected with the reason and advice', async () => {
  const { flags, dir } = await makeVault();
  const before = hashesOf(dir);
  for (const host of ['0.0.0.0', 'db.example.com']) {
    const ended = await run(['serve', ...flags, '--host', host]);
    expect(ended, host).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(
      /--host: other machines can reach this address, so TLS is required.*--tls-cert.*127\.0\.0\.1/,
    );
  }
  expect(await run(['serve', ...flags, '--host', '0.0.0.0', '--behind-tls-proxy'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--behind-tls-proxy: needs .*http\.trusted_proxies/),
  });
  expect(hashesOf(dir)).toEqual(before);
});

test('behind a configured TLS proxy, the service may listen on an address that other machines can reach', async () => {
  const { flags } = await makeVault();
  const proxy = ['--host', '0.0.0.0', '--behind-tls-proxy', '--http-trusted-proxies', '10.0.0.1'];
  const { address } = await startService([...flags, ...proxy]);
  expect(address).toMatch(/^http:\/\/(0\.0\.0\.0|127\.0\.0\.1):/);
});

test.each([
  [
    'only a certificate',
    (files: { cert: string; key: string }) => ['--tls-cert', files.cert],
    2,
    /--tls-cert: needs tls\.key/,
  ],
  [
    'a missing certificate',
    (files: { cert: string; key: string }) => ['--tls-cert', '/none.pem', '--tls-key', files.key],
    1,
    /certificate \/none\.pem does not exist\. Set --tls-cert/,
  ],
  [
    'swapped files',
    (files: { cert: string; key: string }) => ['--tls-cert', files.key, '--tls-key', files.cert],
    1,
    /do not match.*--tls-cert and --tls-key/,
  ],
  [
    'a certificate for a key of another type',
    (files: { cert: string; key: string }) => {
      const rsa = makeCertificate(tempDir(), 'rsa', undefined, 'rsa');
      return ['--tls-cert', rsa.cert, '--tls-key', files.key];
    },
    1,
    /do not match.*--tls-cert and --tls-key/,
  ],
  [
    'a key that other users can read',
    (files: { cert: string; key: string }) => {
      chmodSync(files.key, 0o644);
      return ['--tls-cert', files.cert, '--tls-key', files.key];
    },
    1,
    /contains the TLS key, so it must be accessible to its owner only: mode 0600 or 0400\. Run: chmod 600 /,
  ],
])('%s is rejected', async (_what, argsOf, code, message) => {
  const { flags, dir } = await makeVault();
  const files = makeCertificate(tempDir(), 'only');
  chmodSync(files.key, 0o600);
  const before = hashesOf(dir);
  const ended = await run(['serve', '--port', '0', ...flags, ...argsOf(files)]);
  expect(ended).toMatchObject({ code, stdout: '' });
  expect(ended.stderr).toMatch(message);
  expect(hashesOf(dir)).toEqual(before);
});

test('behind a TLS proxy, the service logs its address, and accepts keys only in requests that came over TLS', async () => {
  const { flags, key } = await makeVault();
  const proxy = ['--host', '0.0.0.0', '--behind-tls-proxy', '--http-trusted-proxies', '127.0.0.1'];
  const service = await startService([...flags, ...proxy]);
  expect(service.address).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
  expect(service.stdout()).toContain(`"msg":"Strongroom listens on ${service.address}"`);
  const tokens = `${service.address.replace('0.0.0.0', '127.0.0.1')}/tokens`;
  expect(await http('GET', tokens, { key })).toMatchObject({ status: 403, body: { code: 'tls_required' } });
  const headers = { 'x-forwarded-proto': 'https' };
  expect(await http('GET', tokens, { key, headers })).toMatchObject({ status: 200 });
});

test.runIf(hasScript).each([
  { log: 'in a file', status: '0' },
  { log: 'on the terminal', status: '1' },
])('a service whose terminal was closed ends with status $status if its log is $log', async ({ log, status }) => {
  const { flags, dir } = await makeVault();
  const { cert, key } = makeCertificate(dir, 'vault');
  const file = (name: string) => join(dir, name);
  const words = [process.execPath, program, 'serve', ...flags, '--port', '0', '--tls-cert', cert, '--tls-key', key];
  const command = words.map((word) => `'${word}'`).join(' ');
  const output = log === 'in a file' ? `> '${file('log')}'` : '';
  // The shell must outlive the terminal, so that it can report how the service ended.
  const shell =
    `trap '' HUP; ${command} ${output} & echo $! > '${file('pid')}'; ` +
    `wait $!; echo $? > '${file('new')}'; mv '${file('new')}' '${file('ended')}'`;
  const terminal = spawn('script', ['-qfec', shell, file('terminal')], { stdio: 'ignore' });
  const shown = file(log === 'in a file' ? 'log' : 'terminal');
  await until('the start', 30_000, () =>
    existsSync(shown) && readFileSync(shown, 'utf8').includes('listens on') ? true : undefined,
  );
  const pid = Number(readFileSync(file('pid'), 'utf8'));
  onTestFinished(() => {
    if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  });
  terminal.kill('SIGKILL');
  await once(terminal, 'exit');
  try {
    // A shell passes SIGHUP on to its programs, and the service then writes to its log.
    process.kill(pid, log === 'in a file' ? 'SIGTERM' : 'SIGHUP');
  } catch (error) {
    // The service wrote to the closed terminal before, and has ended.
    expect(error).toMatchObject({ code: 'ESRCH' });
  }
  const ended = await until('the end', 30_000, () =>
    existsSync(file('ended')) ? readFileSync(file('ended'), 'utf8') : undefined,
  );
  // Node.js used to abort: 134 (SIGABRT), or 139 (SIGSEGV).
  expect(ended).toBe(`${status}\n`);
});
