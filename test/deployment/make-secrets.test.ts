import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '#src/compose/config/config.js';
import { storeUrls } from '#src/compose/config/store-urls.js';

const program = fileURLToPath(new URL('../../scripts/make-secrets.sh', import.meta.url));
let place: string;
let secrets: string;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'strongroom-secrets-'));
  secrets = join(place, 'secrets');
  // The path is relative, because the script changes its directory.
  execFileSync(program, [basename(place)], { cwd: dirname(place) });
});
afterAll(() => rmSync(place, { recursive: true }));

const files = (): string[] =>
  readdirSync(secrets, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test('only the owner can read each file', () => {
  expect(files().filter((file) => (statSync(file).mode & 0o7777) !== 0o600)).toEqual([]);
  expect(statSync(secrets).mode & 0o7777).toBe(0o700);
  expect(files().map((file) => statSync(file).uid)).not.toContain(0);
});

test('a second run is rejected and changes nothing', () => {
  const before = files().map((file) => readFileSync(file, 'utf8'));
  const second = spawnSync(program, [place], { encoding: 'utf8' });
  expect([second.status, second.stderr]).toEqual([1, expect.stringContaining('nothing was changed')]);
  expect(files().map((file) => readFileSync(file, 'utf8'))).toEqual(before);
});

test('a renewal replaces only certificates, from an authority that outlives them, and old and new ones fit together', () => {
  const contents = () => new Map(files().map((file) => [file.slice(secrets.length + 1), readFileSync(file, 'utf8')]));
  const before = contents();
  const authorityBefore = new X509Certificate(before.get('ca.pem') ?? '');
  execFileSync(program, ['--renew', place]);
  const after = contents();
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
  expect([...after.keys()].filter((name) => after.get(name) !== before.get(name)).sort()).toEqual([
    'api.key',
    'api.pem',
    'ca.pem',
    'eventstoredb-ca/ca.pem',
    'eventstoredb.key',
    'eventstoredb.pem',
    'mongodb.pem',
    'redis.key',
    'redis.pem',
  ]);
  const authority = new X509Certificate(after.get('ca.pem') ?? '');
  for (const name of ['eventstoredb.pem', 'mongodb.pem', 'redis.pem', 'api.pem']) {
    const certificate = new X509Certificate(after.get(name) ?? '');
    expect([certificate.checkIssued(authority), certificate.checkIssued(authorityBefore)]).toEqual([true, true]);
    const lifeMs = (one: X509Certificate) => Date.parse(one.validTo) - Date.parse(one.validFrom);
    expect(lifeMs(authority)).toBeGreaterThan(2 * lifeMs(certificate));
  }
});

test('addresses use verified TLS, and each address has its own password', () => {
  const flags = {
    profile: 'cluster',
    eventstoreUrlFile: join(secrets, 'eventstore.url'),
    redisUrlFile: join(secrets, 'redis.url'),
    mongodbUrlFile: join(secrets, 'mongodb.url'),
    mongodbKeysUrlFile: join(secrets, 'mongodb-keys.url'),
  };
  const loaded = loadConfig({ env: {}, flags });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const passwords = Object.values(storeUrls(loaded.config)).map((url) => /:([0-9a-f]{48})@/.exec(url)?.[1]);
  expect(new Set(passwords).size).toBe(4);
  expect(passwords).not.toContain(undefined);
  expect(readFileSync(join(secrets, 'root.key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
});

test('each server has a certificate for its name, all from one authority, and no container gets the authority’s key', () => {
  const authority = new X509Certificate(readFileSync(join(secrets, 'ca.pem')));
  for (const [name, host] of [
    ['eventstoredb', 'eventstoredb'],
    ['mongodb', 'mongodb'],
    ['redis', 'redis'],
    ['api', 'api-2'],
  ]) {
    const certificate = new X509Certificate(readFileSync(join(secrets, `${name}.pem`)));
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect([certificate.checkHost(host ?? ''), certificate.checkIP('127.0.0.1')]).toEqual([host, '127.0.0.1']);
  }
  const compose = readFileSync(fileURLToPath(new URL('../../docker-compose.yml', import.meta.url)), 'utf8');
  expect(compose).not.toContain('ca.key');
});
