import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordColumns } from '#src/cli/audit/audit-records-operation.js';
import { writeBundle } from '#src/cli/audit/run-bundle.js';
import type { RunOperation } from '#src/cli/run-command.js';
import { flushedPaths } from '../support/flushed-paths.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { operate } from './operate.js';

let service: TestService;
let key: string;
let dir: string;
/**
 * The directories of two bundles. One bundle contains the events about a person, and the other contains all events in a
 * period.
 */
let person: string;
let period: string;
let publicKey: string;

const run: RunOperation = (name, input) => operate(service.service, name, input);
const strangers = ['stranger-value-1', 'stranger-meta', 'stranger-id'];
const ownValues = ['own-value', 'own-meta', 'erased-value'];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'strongroom-bundle-'));
  service = await startTestService();
  key = await service.application(['log:read'], 'management');
  const other = await service.otherTenant();
  const create = (id: string, data: string, metadata: string, options = {}) =>
    service.call('POST', '/tokens', { type: 'token', id, data, metadata: { note: metadata } }, options);
  await create('own-living', 'own-value', 'own-meta');
  await create('stranger-id', 'stranger-value-1', 'stranger-meta');
  await create('own-erased', 'erased-value', 'own-meta');
  await service.service.checkpointer.run('grown');
  await create('stranger-id-2', 'stranger-value-1', 'stranger-meta');
  await create('own-living', 'stranger-value-1', 'stranger-meta', { key: other });
  await service.call('PATCH', '/tokens/own-living', { metadata: { note: 'own-meta-2' } });
  await service.call('GET', '/tokens/own-living');
  await service.call('GET', '/tokens/stranger-id');
  await service.call('DELETE', '/tokens/own-erased');
  person = join(dir, 'person');
  const made = await writeBundle(run, { ...options(), ids: ['own-living', 'own-erased'], out: person });
  expect(made).toMatchObject({ events: 4, erasures: 1 });
  period = join(dir, 'period');
  await writeBundle(run, { ...options(), ids: null, from: 0, to: Date.now() + 86_400_000, out: period });
  publicKey = join(dir, 'audit.pub');
  writeFileSync(publicKey, (await run('audit-begin', { from: 1, exports: false })).public_key);
});

afterAll(async () => {
  await service.close();
  rmSync(dir, { recursive: true });
});

function options() {
  return { key, from: null, to: null, json: false };
}

/** Runs a bundle's verifier in a separate process, in an empty directory without packages. */
function verify(bundle: string, args: readonly string[] = ['--public-key', publicKey], uid?: number) {
  const cwd = mkdtempSync(join(dir, 'empty-'));
  chmodSync(dir, 0o755);
  chmodSync(cwd, 0o755);
  return new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(bundle, 'verify.mjs'), ...args],
      { cwd, env: {}, timeout: 20_000, ...(uid === undefined ? {} : { uid }) },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr }),
    );
  });
}

const textOf = (bundle: string) =>
  readdirSync(bundle)
    .map((name) => `${name}\n${readFileSync(join(bundle, name), 'utf8')}`)
    .join('\n');

const linesOf = (bundle: string, name: string) => readFileSync(join(bundle, name), 'utf8').trimEnd().split('\n');

type Line = { readonly [name: string]: unknown };
const jsonLines = (bundle: string, name: string): Line[] => linesOf(bundle, name).map((line) => JSON.parse(line));

test('a bundle is verified by its own program, which needs only Node.js', async () => {
  for (const bundle of [person, period]) {
    expect(await verify(bundle)).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('given key') });
    const alone = await verify(bundle, []);
    expect(alone).toMatchObject({ code: 0, stdout: expect.stringContaining('compare it with the key') });
  }
});

test('a bundle about one person contains only that person’s events, and no values', async () => {
  const text = textOf(person);
  for (const marker of [...strangers, ...ownValues]) expect(text, marker).not.toContain(marker);
  const foreign = await run('bundle-begin', { key, ids: ['stranger-id', 'stranger-id-2'] });
  for (const { stream } of foreign.tokens) expect(text).not.toContain(stream.slice('token-'.length));
  const reads = jsonLines(person, 'reads.jsonl');
  expect(new Set(reads.map(({ stream }) => stream)).size).toBe(2);
  expect(reads.map(({ operation }) => operation)).toEqual(
    expect.arrayContaining(['create', 'reveal', 'update', 'delete']),
  );
  // The period's bundle contains no values, no token ids, and nothing from another tenant.
  const whole = textOf(period);
  for (const marker of [...strangers, ...ownValues, 'own-living']) expect(whole, marker).not.toContain(marker);
  const tenants = [...jsonLines(period, 'history.jsonl').map((line) => line['tenant'])];
  expect(new Set(tenants)).toEqual(new Set([service.tenantId]));
  expect(new Set(jsonLines(period, 'reads.jsonl').map((line) => line['tenant_id']))).toEqual(
    new Set([service.tenantId]),
  );
});

test('reads have the same columns as in an export, and no record id if none is known', () => {
  const columnsIn = (bundle: string) => Object.keys(JSON.parse(linesOf(bundle, 'reads.jsonl')[0] ?? ''));
  expect(columnsIn(period)).toEqual(recordColumns);
  expect(columnsIn(person)).toEqual(['stream', ...recordColumns.filter((name) => name !== 'record_id')]);
});

test('an erased token is in the bundle with its history and its statement, but without values', () => {
  const [statement] = JSON.parse(readFileSync(join(person, 'erasures.json'), 'utf8'));
  expect(statement).toMatchObject({ token_id: 'own-erased', lives: [{ ended_by: 'token.deleted' }] });
  const types = jsonLines(person, 'history.jsonl').filter(({ stream }) => stream === statement.stream);
  expect(types.map(({ type }) => type)).toEqual(['token.created', 'token.deleted']);
  expect(textOf(person)).not.toContain('erased-value');
});

/** Returns a copy of the person's bundle with one changed file. */
function tampered(name: string, change: (text: string) => string | null, listsAgain = false): string {
  const copy = mkdtempSync(join(dir, 'tampered-'));
  cpSync(person, copy, { recursive: true });
  const text = change(readFileSync(join(copy, name), 'utf8'));
  if (text === null) rmSync(join(copy, name));
  else writeFileSync(join(copy, name), text);
  if (listsAgain) {
    const path = join(copy, 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    const file = manifest.files.find((one: Line) => one['name'] === name);
    const bytes = readFileSync(join(copy, name));
    Object.assign(file, { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    writeFileSync(path, JSON.stringify(manifest));
  }
  return copy;
}

const files = ['README.txt', 'audit.pub', 'checkpoints.json', 'erasures.json', 'history.jsonl', 'manifest.json'];
const changes: readonly (readonly [string, (text: string) => string | null])[] = [
  ['flipped', (text) => `${text.slice(0, 40)}${text[40] === 'x' ? 'y' : 'x'}${text.slice(41)}`],
  ['truncated', (text) => text.slice(0, -10)],
  ['removed', () => null],
  ['emptied', () => ''],
];

test.each(
  [...files, 'reads.jsonl', 'tokens.json'].flatMap((file) => changes.map((change) => [file, ...change] as const)),
)('if %s is %s, the verifier names the file', async (file, _, change) => {
  const found = await verify(tampered(file, change));
  expect(found).toMatchObject({ code: 3, stderr: '' });
  expect(found.stdout).toContain(`PROBLEM ${file}: `);
});

const swapPaths = (text: string): string => {
  const [first = '', second = '', ...rest] = text.split('\n');
  const [one, two] = [JSON.parse(first), JSON.parse(second)];
  return `${[
    { ...one, path: two.path },
    { ...two, path: one.path },
  ]
    .map((l) => JSON.stringify(l))
    .join('\n')}\n${rest.join('\n')}`;
};
const swapLines = (text: string): string => {
  const [first = '', second = '', ...rest] = text.split('\n');
  return [second, first, ...rest].join('\n');
};
const dropLine = (text: string): string => text.split('\n').slice(1).join('\n');

// The attacker also updates the changed file's hash in the manifest, so only the signature on the manifest can reveal
// the change.
test.each([
  [
    'history.jsonl',
    'another actor',
    (t: string) => t.replace(/"actor":"[^"]+"/, '"actor":"x"'),
    'line 1: checkpoint 1 does not include this event',
  ],
  ['history.jsonl', 'another time', (t: string) => t.replace(/"time":1/, '"time":2'), 'line 1: '],
  ['history.jsonl', 'swapped proofs', swapPaths, 'does not include this event'],
  ['history.jsonl', 'reordered events', swapLines, 'line 2: out of order'],
  ['history.jsonl', 'a missing event', dropLine, 'revision 0 of token-'],
  ['checkpoints.json', 'another root', (t: string) => t.replace(/"root": "./, '"root": "x'), 'signature is not valid'],
  [
    'checkpoints.json',
    'no proof of consistency',
    (t: string) => t.replaceAll(/"consistency": \[[^\]]+\]/g, '"consistency": []'),
    'does not begin with that of checkpoint',
  ],
  [
    'erasures.json',
    'another end',
    (t: string) => t.replace('"destroyed": 1', '"destroyed": 2'),
    'statement 1: the signature',
  ],
  ['erasures.json', 'no statement', () => '[]\n', 'the statement about token-'],
  ['reads.jsonl', 'a missing read', dropLine, 'a different number of entries'],
  ['tokens.json', 'a missing token', (t: string) => JSON.stringify(JSON.parse(t).slice(1)), 'not in tokens.json'],
] as const)('%s with %s is detected although the manifest lists the new hash', async (file, _, change, message) => {
  const bundle = tampered(file, change, true);
  expect(readFileSync(join(bundle, file), 'utf8')).not.toBe(readFileSync(join(person, file), 'utf8'));
  const { code, stdout } = await verify(bundle);
  expect(code).toBe(3);
  expect(stdout).toContain('PROBLEM manifest.json: the signature is not valid');
  expect(stdout).toContain(message);
});

test.runIf(process.platform === 'linux')('a bundle is on disk when it has its name, and then its name is', async () => {
  const out = join(dir, 'flushed');
  const flushed = await flushedPaths((path) => [path, existsSync(out)]);
  await writeBundle(run, { ...options(), ids: ['own-living'], out });
  const part = /\.flushed\.part-[0-9a-f]{8}/.source;
  const files = readdirSync(out).map((name) => [expect.stringMatching(`${part}/${name}$`), false]);
  expect(flushed.slice(0, -2).sort()).toEqual(files);
  expect(flushed.slice(-2)).toEqual([
    [expect.stringMatching(`${part}$`), false],
    [dir, true],
  ]);
});

test('a bundle without a manifest is reported as one problem, not as one per file', async () => {
  const copy = join(dir, 'without-manifest');
  cpSync(person, copy, { recursive: true });
  rmSync(join(copy, 'manifest.json'));
  expect(await verify(copy)).toMatchObject({
    code: 3,
    stdout: 'PROBLEM manifest.json: missing or damaged; nothing else was checked\n',
  });
});

test.each([
  ['a second tenant', '"tenant_id": "another",\n  "tenant_id":', '"tenant_id":'],
  ['a second list of files', '"files": [],\n  "files":', '"files":'],
])('a manifest with %s is reported, although its signature is valid for the last one', async (_, added, name) => {
  expect(await verify(tampered('manifest.json', (text) => text.replace(name, added)))).toMatchObject({
    code: 3,
    stdout: 'PROBLEM manifest.json: not as the vault wrote it: the file was changed\n',
  });
});

test.each([
  ['a device', (path: string) => symlinkSync('/dev/zero', path)],
  ['a named pipe', (path: string) => void execFileSync('mkfifo', [path])],
  ['a link to the same content', (path: string) => symlinkSync(join(person, 'reads.jsonl'), path)],
])('the verifier does not read %s in place of a file', async (_, put) => {
  const bundle = tampered('reads.jsonl', () => null);
  put(join(bundle, 'reads.jsonl'));
  const found = await verify(bundle);
  expect(found).toMatchObject({ code: 3, stderr: '' });
  expect(found.stdout).toContain('PROBLEM reads.jsonl: missing, not a regular file, or unreadable');
});

test.runIf(process.getuid?.() === 0)('the verifier reports a file that it may not read (needs root)', async () => {
  const anotherUser = 10_001;
  for (const name of ['history.jsonl', 'reads.jsonl']) {
    const bundle = tampered(name, (text) => text);
    for (const file of ['', ...readdirSync(bundle)]) chownSync(join(bundle, file), anotherUser, anotherUser);
    chownSync(join(bundle, name), 0, 0);
    const found = await verify(bundle, [], anotherUser);
    expect(found).toMatchObject({ code: 3, stderr: '' });
    expect(found.stdout).toContain(`PROBLEM ${name}: missing, not a regular file, or unreadable`);
    expect(found.stdout).toContain(`PROBLEM ${name}: cannot be read beyond line 0 (EACCES)`);
  }
});

test('a file that does not belong to the bundle is named, and no bundle verifies with another vault’s key', async () => {
  const copy = tampered('README.txt', (text) => text);
  writeFileSync(join(copy, 'extra.txt'), 'x');
  expect((await verify(copy)).stdout).toContain('"extra.txt": a file that is not part');
  const other = await startTestService();
  try {
    const { public_key: otherKey } = await operate(other.service, 'audit-begin', { from: 1, exports: false });
    const path = join(dir, 'other.pub');
    writeFileSync(path, otherKey);
    const found = await verify(person, ['--public-key', path]);
    expect(found).toMatchObject({ code: 3, stdout: expect.stringContaining('manifest.json: signed by another key') });
  } finally {
    await other.close();
  }
});

test.each([
  ['an id that never existed', { ids: ['own-living', 'never'] }, /"never" has ever existed/],
  ['an empty period', { ids: null, from: 1, to: 2 }, /no event in this period/],
  ['an unknown key', { ids: ['own-living'], key: 'sr_management_x' }, /no application has this key/],
  ['a missing directory', { ids: ['own-living'], out: '/nowhere/at/all' }, /cannot be written \(ENOENT\)/],
] as const)('%s is rejected with an explanation, and nothing is written', async (_, change, message) => {
  const before = readdirSync(dir).filter((name) => name.includes('bad'));
  await expect(writeBundle(run, { ...options(), out: join(dir, 'bad'), ...change })).rejects.toThrow(message);
  expect(readdirSync(dir).filter((name) => name.includes('bad'))).toEqual(before);
});

test('an application cannot have a manifest of another tenant signed', async () => {
  const { signature: _, signed_by: __, ...manifest } = JSON.parse(readFileSync(join(person, 'manifest.json'), 'utf8'));
  expect(await run('bundle-sign', { key, manifest })).toMatchObject({ tenant_id: manifest.tenant_id });
  const foreign = { ...manifest, tenant_id: randomUUID() };
  await expect(run('bundle-sign', { key, manifest: foreign })).rejects.toThrow('belongs to another tenant');
});

test('a bundle never replaces an existing directory, and creating a bundle requires log:read', async () => {
  const before = textOf(person);
  await expect(writeBundle(run, { ...options(), ids: ['own-living'], out: person })).rejects.toThrow(/already exists/);
  expect(textOf(person)).toBe(before);
  const weak = await service.application(['token:read']);
  const asked = { ...options(), key: weak, ids: ['own-living'], out: join(dir, 'weak') };
  await expect(writeBundle(run, asked)).rejects.toThrow(/does not hold log:read/);
});
