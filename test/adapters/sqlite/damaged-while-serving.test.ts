import { randomBytes } from 'node:crypto';
import { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { http, makeVault, run, startService, until } from '../../support/process.js';

const pageBytes = 4_096;

/** Overwrites all pages after the first with random bytes. */
function scramble(path: string): void {
  const length = statSync(path).size - pageBytes;
  const file = openSync(path, 'r+');
  writeSync(file, randomBytes(length), 0, length, pageBytes);
  closeSync(file);
}

test.each([
  ['keys.db truncated', 'keys.db', (path: string) => truncateSync(path, 20_000)],
  ['keys.db overwritten with random bytes', 'keys.db', scramble],
  ['vault.db overwritten with random bytes', 'vault.db', scramble],
  ['the write-ahead log of vault.db emptied', 'vault.db', (path: string) => truncateSync(`${path}-wal`, 0)],
])(
  '%s while the service runs: the log, readiness and doctor name the file and the remedy',
  async (_what, file, harm) => {
    const vault = await makeVault();
    const first = await startService(vault.flags);
    const create = (id: string) =>
      http('POST', `${first.address}/tokens`, { key: vault.key, body: { id, type: 'token', data: 'x'.repeat(2_000) } });
    const ids = Array.from({ length: 120 }, (_, number) => `t-${number}`);
    for (const { status, text } of await Promise.all(ids.map(create))) expect(status, text).toBe(201);
    await first.stop();

    // After a restart, no key or row is cached. These requests fill the write-ahead log again.
    const service = await startService(vault.flags);
    const call = (method: string, path: string) => http(method, service.address + path, { key: vault.key });
    await call('POST', '/tokens/search');
    const updates = ids
      .slice(0, 30)
      .map((id) =>
        http('PATCH', `${service.address}/tokens/${id}`, { key: vault.key, body: { metadata: { a: 'b' } } }),
      );
    for (const { status, text } of await Promise.all(updates)) expect(status, text).toBe(200);
    expect((await call('GET', '/health/ready')).status).toBe(200);
    harm(join(vault.dataDir, file));
    const answers = await Promise.all(ids.map((id) => call('GET', `/tokens/${id}`)));
    const failed = answers.filter(({ status }) => status !== 200);
    expect(failed.length).toBeGreaterThan(0);
    for (const { status, body, text } of failed) {
      expect([status, body['code']], text).toEqual([500, 'internal']);
      expect(text).not.toContain(file);
    }
    expect((await call('GET', '/health/ready')).status).toBe(503);
    const logged = `"problem":"${file} is damaged`;
    await until('the line of the log', 30_000, () => service.stdout().includes(logged) || undefined);
    const { code, stdout, stderr } = await run(['doctor', ...vault.flags]);
    expect(code, stderr).toBe(3);
    expect(stdout).toContain(`${file} is damaged`);
    expect(stdout).toContain('Stop the service and restore the data directory from a backup.');
    expect(stdout + stderr).not.toContain('see its log');
  },
);
