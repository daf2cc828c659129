import { execFile, execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BundleManifest, signBundle } from '#src/audit/bundle-manifest.js';
import { keyName } from '#src/audit/make-checkpoint.js';
import { recordColumns } from '#src/cli/audit/audit-records-operation.js';
import { writeBundle } from '#src/cli/audit/run-bundle.js';
import type { RunOperation } from '#src/cli/run-command.js';
import { type Checkpoint, checkpointHash, signedBytes } from '#src/events/audit/checkpoint.js';
import { lengthPrefixed } from '#src/events/sealing/length-prefixed.js';
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
  return { key, from: null, to: null, erasures: 'state', json: false } as const;
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
      { cwd, env: {}, timeout: 60_000, ...(uid === undefined ? {} : { uid }) },
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

test('only the owner of a bundle can list and read its files', () => {
  expect(statSync(person).mode & 0o777).toBe(0o700);
  for (const file of readdirSync(person))
    expect([file, statSync(join(person, file)).mode & 0o777]).toEqual([file, 0o600]);
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
    stdout: 'PROBLEM manifest.json: the file was changed after the vault wrote it\n',
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

test('a forged bundle cannot write control sequences or lines of its own to the terminal', async () => {
  const forged = '\u001b[2J\u009b8m\u202e\r\n4 events, each unchanged';
  const bundle = tampered('tokens.json', () => JSON.stringify([{ id: 'own-living', stream: forged }]));
  writeFileSync(join(bundle, 'extra\u009b2J'), 'x');
  const { code, stdout } = await verify(bundle);
  expect(code).toBe(3);
  expect(stdout).toContain(
    'the events of \\u{1b}[2J\\u{9b}8m\\u{202e}\\u{d}\\u{a}4 events, each unchanged are missing\n',
  );
  expect(stdout).toContain('"extra\\u{9b}2J": a file that is not part');
  expect(stdout.split('\n').filter((line) => line !== '' && !line.startsWith('PROBLEM '))).toEqual([]);
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
  ['an unknown key', { ids: ['own-living'], key: 'sr_management_x' }, /no application has this API key/],
  ['a missing directory', { ids: ['own-living'], out: '/nowhere/at/all' }, /cannot be written \(ENOENT\)/],
] as const)('%s is rejected with an explanation, and nothing is written', async (_, change, message) => {
  const before = readdirSync(dir).filter((name) => name.includes('bad'));
  await expect(writeBundle(run, { ...options(), out: join(dir, 'bad'), ...change })).rejects.toThrow(message);
  expect(readdirSync(dir).filter((name) => name.includes('bad'))).toEqual(before);
});

test('a period does not include its end', async () => {
  const given = { ...options(), ids: null, from: 0, out: join(dir, 'bad') };
  const to = service.clock.now();
  await expect(writeBundle(run, { ...given, to })).rejects.toThrow('no event in this period');
});

test('no bundle is written if the events do not match the root of their checkpoint', async () => {
  const forging: RunOperation = async (name, input) => {
    const answer = await run(name, input);
    if (!('leaves' in answer)) return answer;
    const leaves = Buffer.from(String(answer.leaves), 'base64');
    leaves[0] = (leaves[0] ?? 0) ^ 1;
    return { ...answer, leaves: leaves.toString('base64') };
  };
  const out = join(dir, 'bad');
  await expect(writeBundle(forging, { ...options(), ids: ['own-living'], out })).rejects.toThrow(
    'do not match the root of checkpoint 1',
  );
  expect(readdirSync(dir).filter((name) => name.includes('bad'))).toEqual([]);
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

type Fields = Record<string, unknown>;
type Bundle = {
  manifest: BundleManifest;
  checkpoints: { checkpoint: Checkpoint; consistency: string[] }[];
  erasures: Fields[];
  history: Fields[];
  reads: Fields[];
};
type Change = (bundle: Bundle) => void;

const attacker = generateKeyPairSync('ed25519');
const attackersPem = attacker.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const attackersSigningKey = {
  publicKey: attackersPem,
  sign: (bytes: Buffer) => sign(null, bytes, attacker.privateKey),
};

/**
 * Returns a copy of a bundle in which a holder of a signing key has signed everything again, so that only the other
 * checks can reveal a change. `change` is applied before the checkpoints and statements are signed, and `changeSigned`
 * after that, but before the manifest is signed.
 */
function signedAgain(base: string, change: Change, changeSigned: Change = () => undefined): string {
  const copy = mkdtempSync(join(dir, 'signed-again-'));
  cpSync(base, copy, { recursive: true });
  const json = (name: string) => JSON.parse(readFileSync(join(copy, name), 'utf8'));
  const bundle: Bundle = {
    manifest: json('manifest.json'),
    checkpoints: json('checkpoints.json'),
    erasures: json('erasures.json'),
    history: jsonLines(copy, 'history.jsonl'),
    reads: jsonLines(copy, 'reads.jsonl'),
  };
  change(bundle);
  const signed_by = keyName(attackersPem);
  for (const { checkpoint } of bundle.checkpoints) {
    Object.assign(checkpoint, { signed_by });
    const signature = attackersSigningKey.sign(signedBytes(checkpointHash(checkpoint))).toString('base64');
    Object.assign(checkpoint, { signature });
  }
  bundle.erasures = bundle.erasures.map(({ signature: _, ...statement }) => {
    const signed = { ...statement, signed_by };
    const bytes = lengthPrefixed(['strongroom.erasure.1', JSON.stringify(signed)]);
    return { ...signed, signature: attackersSigningKey.sign(bytes).toString('base64') };
  });
  changeSigned(bundle);
  const write = (name: string, text: string) => {
    writeFileSync(join(copy, name), text);
    const file = bundle.manifest.files.find((one) => one.name === name);
    const sha256 = createHash('sha256').update(text).digest('hex');
    if (file !== undefined) Object.assign(file, { bytes: Buffer.byteLength(text), sha256 });
  };
  const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  const lines = (values: readonly Fields[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
  write('checkpoints.json', pretty(bundle.checkpoints));
  write('erasures.json', pretty(bundle.erasures));
  write('history.jsonl', lines(bundle.history));
  write('reads.jsonl', lines(bundle.reads));
  write('audit.pub', attackersPem);
  const { signed_by: _, signature: __, ...facts } = bundle.manifest;
  write('manifest.json', pretty(signBundle(attackersSigningKey, facts)));
  return copy;
}

/** Returns the problems that the verifier finds in a bundle that was signed again. */
async function problemsIn(bundle: string): Promise<readonly string[]> {
  const path = join(dir, 'attacker.pub');
  writeFileSync(path, attackersPem);
  const { code, stdout, stderr } = await verify(bundle, ['--public-key', path]);
  const problems = stdout.split('\n').flatMap((line) => (line.startsWith('PROBLEM ') ? [line.slice(8)] : []));
  expect({ code, stderr }).toEqual({ code: problems.length > 0 ? 3 : 0, stderr: '' });
  return problems;
}

const streamOf = ({ history }: Bundle, end: string) =>
  String(history.find(({ type }) => type === end)?.['stream'] ?? '');
const other = '0'.repeat(64);

describe('a bundle that is signed throughout', () => {
  test('is valid if nothing else in it was changed', async () => {
    for (const bundle of [person, period]) expect(await problemsIn(signedAgain(bundle, () => undefined))).toEqual([]);
  });

  test.each([
    ['sealed_hash', other],
    ['id', randomUUID()],
    ['type', 'token.updated'],
    ['version', 99],
    ['actor', randomUUID()],
    ['time', 1],
    ['cmd', 'x'],
    ['clear', {}],
    ['stream', 'token-x'],
    ['first', 1],
  ])('is invalid if the field %s of an event differs from the log', async (name, value) => {
    const found = await problemsIn(
      signedAgain(person, ({ history }) => Object.assign(history[0] ?? {}, { [name]: value })),
    );
    expect(found.join('\n')).toMatch(/^history.jsonl: line 1: (checkpoint 1 does not include|the event was changed)/);
  });

  test('is invalid if an event differs from the log that was written together with others', async () => {
    const bundle = signedAgain(period, ({ history }) => {
      const joint = history.find(({ digests }) => digests !== null);
      Object.assign(joint ?? {}, { actor: randomUUID() });
    });
    expect(await problemsIn(bundle)).toEqual([
      expect.stringMatching(/the event was changed: it is not part of its commit$/),
    ]);
  });

  test.each<readonly [string, () => string, Change, readonly unknown[]]>([
    [
      'an event names a checkpoint that is missing',
      () => person,
      ({ history }) => Object.assign(history[0] ?? {}, { checkpoint: 99 }),
      ['history.jsonl: line 1: its checkpoint is missing'],
    ],
    [
      'an event claims a place after the end of its checkpoint',
      () => person,
      ({ history, checkpoints }) => {
        const size = 2 ** Math.ceil(Math.log2(checkpoints[0]?.checkpoint.count ?? 0));
        for (const line of history) Object.assign(line, { index: Number(line['index']) + size });
      },
      expect.arrayContaining([expect.stringMatching(/line 1: checkpoint 1 does not include/)]),
    ],
    [
      'an event occurs twice',
      () => period,
      ({ history, manifest }) => {
        history.splice(1, 0, { ...history[0] });
        manifest.events += 1;
      },
      ['history.jsonl: line 2: out of order'],
    ],
    [
      'the newest event comes first',
      () => period,
      ({ history }) => void history.unshift(history.pop() ?? {}),
      ['history.jsonl: line 2: out of order'],
    ],
    [
      'the period ends at the time of an event and a read',
      () => period,
      ({ history, manifest }) =>
        Object.assign(manifest.scope, { to: new Date(Number(history[0]?.['time'])).toISOString() }),
      expect.arrayContaining([
        'history.jsonl: line 1: outside of the period',
        'reads.jsonl: line 1: outside of the period',
      ]),
    ],
    [
      'the period begins after the events and the reads',
      () => period,
      ({ history, manifest }) =>
        Object.assign(manifest.scope, { from: new Date(Number(history[0]?.['time']) + 1).toISOString() }),
      expect.arrayContaining([
        'history.jsonl: line 1: outside of the period',
        'reads.jsonl: line 1: outside of the period',
      ]),
    ],
    [
      'the manifest lists another number of events',
      () => person,
      ({ manifest }) => Object.assign(manifest, { events: manifest.events + 1 }),
      ['history.jsonl: the manifest lists a different number of events'],
    ],
    [
      'a line is not an object',
      () => period,
      ({ history, reads }) => {
        for (const lines of [history, reads]) lines[0] = JSON.parse('[]');
      },
      ['history.jsonl: line 1 is damaged', 'reads.jsonl: line 1 is damaged'],
    ],
    [
      'all events of a token are missing',
      () => person,
      (bundle) => {
        const erased = streamOf(bundle, 'token.deleted');
        bundle.history = bundle.history.filter(({ stream }) => stream !== erased);
        bundle.erasures = [];
        Object.assign(bundle.manifest, { events: bundle.history.length, erasures: 0 });
      },
      [expect.stringMatching(/^history.jsonl: the events of token-\S+ are missing$/)],
    ],
    [
      'it contains what belongs to another tenant',
      () => person,
      ({ manifest }) => Object.assign(manifest, { tenant_id: randomUUID() }),
      expect.arrayContaining([
        'history.jsonl: line 1: an event of another tenant',
        'reads.jsonl: line 1: an entry of another tenant',
        'erasures.json: statement 1 belongs to another log or tenant',
      ]),
    ],
    [
      'it contains what belongs to another log',
      () => person,
      ({ manifest }) => Object.assign(manifest, { log_id: randomUUID() }),
      [
        'checkpoints.json: checkpoint 1 belongs to another log',
        'checkpoints.json: checkpoint 2 belongs to another log',
        'erasures.json: statement 1 belongs to another log or tenant',
      ],
    ],
    [
      'a checkpoint occurs twice',
      () => person,
      ({ checkpoints }) =>
        void checkpoints.push(...checkpoints.slice(-1).map((last) => ({ ...last, consistency: [] }))),
      ['checkpoints.json: checkpoint 2 is not after checkpoint 2'],
    ],
    [
      'the newest checkpoint is missing',
      () => person,
      ({ manifest }) => Object.assign(manifest, { checkpoint: 3 }),
      ['checkpoints.json: the newest checkpoint of the manifest is missing'],
    ],
    ...([0, 1] as const).map(
      (at) =>
        [
          `checkpoint ${at + 1} signs another history`,
          () => person,
          ({ checkpoints }: Bundle) => Object.assign(checkpoints[at]?.checkpoint ?? {}, { root: other }),
          expect.arrayContaining([
            'checkpoints.json: checkpoint 2: the log that it signs does not begin with that of checkpoint 1',
          ]),
        ] as const,
    ),
    [
      'two checkpoints sign different logs of the same size',
      () => person,
      ({ checkpoints: [first, second] }) => {
        Object.assign(second ?? {}, { consistency: [] });
        Object.assign(second?.checkpoint ?? {}, { count: first?.checkpoint.count });
      },
      expect.arrayContaining([
        'checkpoints.json: checkpoint 2: the log that it signs does not begin with that of checkpoint 1',
      ]),
    ],
    [
      'a read is about another token',
      () => person,
      ({ reads }) => Object.assign(reads[0] ?? {}, { stream: 'token-x' }),
      ['reads.jsonl: line 1: an entry about a token that is not in tokens.json'],
    ],
    [
      'a statement occurs twice',
      () => person,
      ({ erasures }) => void erasures.push({ ...erasures[0] }),
      ['erasures.json: the manifest lists a different number of statements'],
    ],
    [
      'a statement is about another token',
      () => person,
      ({ erasures, manifest }) => {
        erasures.push({ ...erasures[0], stream: 'token-x' });
        manifest.erasures += 1;
      },
      ['erasures.json: statement 2 is about a token that is not in tokens.json'],
    ],
    [
      'a statement is about a living token',
      () => person,
      (bundle) => {
        bundle.erasures.push({ ...bundle.erasures[0], stream: streamOf(bundle, 'token.updated') });
        bundle.manifest.erasures += 1;
      },
      [expect.stringMatching(/^erasures.json: a statement about token-\S+, which was not deleted$/)],
    ],
    [
      'the statement about an expired token is missing',
      () => person,
      ({ history, erasures, manifest }) => {
        Object.assign(history.at(-1) ?? {}, { type: 'token.expired' });
        erasures.length = 0;
        manifest.erasures = 0;
      },
      expect.arrayContaining([expect.stringMatching(/^erasures.json: the statement about token-\S+ is missing$/)]),
    ],
    [
      'the manifest does not list a file',
      () => person,
      ({ manifest }) => Object.assign(manifest, { files: manifest.files.filter((file) => file.name !== 'README.txt') }),
      ['README.txt: the manifest does not list it', '"README.txt": a file that is not part of the bundle'],
    ],
    [
      'the manifest lists a file outside of the bundle',
      () => person,
      ({ manifest: { files } }) => {
        const readme = files.filter(({ name }) => name === 'README.txt');
        files.push(...readme.map((file) => ({ ...file, name: '../person/README.txt' })));
      },
      ['"../person/README.txt": the manifest lists a file that no bundle has'],
    ],
  ])('is invalid if %s', async (_, base, change, problems) => {
    expect(await problemsIn(signedAgain(base(), change))).toEqual(problems);
  });

  test.each<readonly [string, Change, string]>([
    [
      'a checkpoint is signed by another key',
      ({ checkpoints }) => Object.assign(checkpoints[0]?.checkpoint ?? {}, { signed_by: other }),
      'checkpoints.json: checkpoint 1 is signed by another key',
    ],
    [
      'the newest checkpoint was changed after it was signed',
      ({ checkpoints }) => Object.assign(checkpoints.at(-1)?.checkpoint ?? {}, { time: 1 }),
      'checkpoints.json: checkpoint 2: the signature is not valid: it was changed',
    ],
    [
      'the end of a chain of the access log was changed after it was signed',
      ({ checkpoints }) => Object.assign(checkpoints[0]?.checkpoint.access[0] ?? {}, { hash: other }),
      'checkpoints.json: checkpoint 1: the signature is not valid: it was changed',
    ],
    [
      'a statement is signed by another key',
      ({ erasures }) => Object.assign(erasures[0] ?? {}, { signed_by: other }),
      'erasures.json: statement 1 is signed by another key',
    ],
  ])('is invalid if %s', async (_, change, message) => {
    expect(await problemsIn(signedAgain(person, () => undefined, change))).toEqual([message]);
  });

  test('may contain a fence after the event that ended a token', async () => {
    const found = await problemsIn(
      signedAgain(person, ({ history, manifest }) => {
        const last = history.at(-1);
        history.push({ ...last, type: 'token.fenced', revision: Number(last?.['revision']) + 1 });
        manifest.events += 1;
      }),
    );
    expect(found.join('\n')).not.toContain('which was not deleted');
  });

  test('is invalid if its public key is not the given one, which must be an Ed25519 key', async () => {
    const bundle = signedAgain(person, () => undefined);
    expect((await verify(bundle)).stdout).toContain('PROBLEM audit.pub: not the given public key');
    const path = join(dir, 'rsa.pub');
    const { publicKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(path, rsa.export({ type: 'spki', format: 'pem' }));
    expect(await verify(person, ['--public-key', path])).toMatchObject({
      code: 2,
      stderr: `${path} is not an Ed25519 public key.\n`,
    });
  });
});
