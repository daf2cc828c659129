// Verifies a bundle created by `strongroom audit bundle`. It needs only Node.js 20 or later: run `node verify.mjs` in
// the bundle's directory. It opens no connections and changes no files.
//
//   node verify.mjs [--public-key audit.pub] [directory]
//
// Exit codes: 0 if the bundle is valid, 2 for a usage error, 3 if a check failed. The output names each failed check.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TokenEventType } from '../../domain/token/token-event-header.js';

/** Whether an event ends the life of a token. This file is shipped alone, so it can import only types. */
const endings: Readonly<Record<string, boolean>> = {
  'token.created': false,
  'token.updated': false,
  'token.deleted': true,
  'token.expired': true,
  'token.property.expired': false,
  'token.fenced': false,
} satisfies Record<TokenEventType, boolean>;

type Fields = { readonly [name: string]: unknown };
type Checkpoint = { readonly fields: Fields; readonly number: number; readonly count: number; readonly root: Buffer };

const problems: string[] = [];
const invisible = /[\p{C}\p{Zl}\p{Zp}]/gu;
const named = ['README.txt', 'verify.mjs', 'audit.pub', 'tokens.json', 'history.jsonl', 'reads.jsonl'];
const fileNames = [...named, 'erasures.json', 'checkpoints.json'];

/**
 * Adds a problem to the output. Escapes invisible characters in it. Threat: a forged bundle contains control sequences
 * or line breaks, and the terminal shows the text of a valid bundle instead of the problems.
 */
function problem(text: string): void {
  if (problems.length < 100) problems.push(text.replaceAll(invisible, escaped));
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function sha256(...parts: readonly (Uint8Array | string)[]): Buffer {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest();
}

/** Concatenates the parts. Each part is preceded by its length, encoded as 4 big-endian bytes. */
function lengthPrefixed(parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function texts(value: unknown): readonly string[] {
  return listOf(value).map(String);
}

function hashes(value: unknown): readonly Buffer[] {
  return texts(value).map((text) => Buffer.from(text, 'hex'));
}

// RFC 6962, section 2.1: the input of a leaf hash starts with the byte 0. The input of an inner node's hash starts with
// the byte 1.

function node(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(Buffer.of(1), left, right);
}

/** Verifies an inclusion proof (RFC 9162, section 2.1.3.2). */
function isIncluded(leaf: Buffer, index: number, size: number, path: readonly Buffer[], root: Buffer): boolean {
  if (index < 0 || index >= size) return false;
  let [place, last, hash] = [index, size - 1, leaf];
  for (const part of path) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      hash = node(part, hash);
      while (place % 2 === 0 && place !== 0) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
    } else hash = node(hash, part);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 && hash.equals(root);
}

/** Verifies a consistency proof (RFC 9162, section 2.1.4.2). */
function isConsistent(earlier: Checkpoint, later: Checkpoint, path: readonly Buffer[]): boolean {
  if (earlier.count < 1 || earlier.count > later.count) return false;
  if (earlier.count === later.count) return path.length === 0 && earlier.root.equals(later.root);
  const isPower = Number.isInteger(Math.log2(earlier.count));
  const [start, ...nodes] = isPower ? [earlier.root, ...path] : path;
  if (start === undefined) return false;
  let [place, last, before, after] = [earlier.count - 1, later.count - 1, start, start];
  while (place % 2 === 1) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  for (const part of nodes) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      [before, after] = [node(part, before), node(part, after)];
      while (place % 2 === 0 && place !== 0) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
    } else after = node(after, part);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 && before.equals(earlier.root) && after.equals(later.root);
}

/**
 * Computes the leaf of the commit that an event claims to belong to. Returns null if the event cannot belong to that
 * commit.
 */
function leafOf(event: Fields): Buffer | null {
  const { stream, revision, id, type, version, tenant, actor, time, cmd, clear, first, digests } = event;
  const place = ['strongroom.event.1', String(stream), String(revision), String(id), String(type), String(version)];
  const facts = [String(tenant), String(actor), String(time), JSON.stringify(clear) ?? ''];
  const parts = [...place, ...facts, ...(cmd === null ? [] : [String(cmd)])];
  const digest = sha256(Buffer.from(String(event['sealed_hash']), 'hex'), lengthPrefixed(parts));
  const all = digests === null ? digest : Buffer.from(String(digests), 'base64');
  const at = (Number(revision) - Number(first)) * 32;
  if (all.length % 32 !== 0 || !(at >= 0) || !all.subarray(at, at + 32).equals(digest)) return null;
  const head = lengthPrefixed(['strongroom.commit.1', String(stream), String(first), String(all.length / 32)]);
  return sha256(Buffer.of(0), head, all);
}

function isSigned(key: KeyObject, parts: readonly string[], signature: unknown): boolean {
  return verify(null, lengthPrefixed(parts), key, Buffer.from(String(signature), 'base64'));
}

/** Returns the hash covered by a checkpoint's signature. */
function hashOfCheckpoint(fields: Fields): string {
  const { log_id, number, time, hourly, hours, position, count, hash, root, previous, signed_by, access } = fields;
  const numbers = [number, time, hourly, hours, position, count].map(String);
  const names = [String(hash), String(root), previous === null ? '' : String(previous), String(signed_by)];
  const chains = listOf(access).flatMap((end) =>
    isFields(end) ? [String(end['chain']), String(end['sequence']), String(end['hash'])] : [],
  );
  return sha256(lengthPrefixed(['strongroom.checkpoint.2', String(log_id), ...numbers, ...names, ...chains])).toString(
    'hex',
  );
}

/**
 * Returns the manifest, or null if the manifest is missing or damaged. Nothing else can be checked without a manifest.
 */
function readManifest(directory: string, key: KeyObject, keyId: string): Fields | null {
  const text = contentOf(directory, 'manifest.json')?.toString('utf8') ?? '';
  const manifest = parse(text);
  if (!isFields(manifest)) {
    problem('manifest.json: missing or damaged; nothing else was checked');
    return null;
  }
  // Threat: an attacker adds a second member with the same name. The signature covers only the last one, but another
  // program, or a person, may read the first one.
  if (text !== `${JSON.stringify(manifest, null, 2)}\n`) {
    problem('manifest.json: the file was changed after the vault wrote it');
  }
  const { signature, ...signed } = manifest;
  if (signed['signed_by'] !== keyId) problem('manifest.json: signed by another key');
  else if (!isSigned(key, ['strongroom.bundle.1', JSON.stringify(signed)], signature)) {
    problem('manifest.json: the signature is not valid: the file was changed');
  }
  return manifest;
}

async function checkFiles(directory: string, manifest: Fields): Promise<void> {
  const listed = new Set(['manifest.json']);
  for (const file of listOf(manifest['files'])) {
    if (!isFields(file)) continue;
    const name = String(file['name']);
    listed.add(name);
    if (!fileNames.includes(name)) {
      problem(`${JSON.stringify(name)}: the manifest lists a file that no bundle has`);
      continue;
    }
    const found = await digestOf(directory, name);
    if (found === null) problem(`${name}: missing, not a regular file, or unreadable`);
    else if (found.hash !== file['sha256'] || found.bytes !== file['bytes']) {
      problem(`${name}: not the file that the manifest lists: its hash or its length differs`);
    }
  }
  for (const name of fileNames) {
    const isExpected = name !== 'tokens.json' || isKind(manifest, 'tokens');
    if (isExpected && !listed.has(name)) problem(`${name}: the manifest does not list it`);
  }
  for (const name of readdirSync(directory)) {
    if (!listed.has(name)) problem(`${JSON.stringify(name)}: a file that is not part of the bundle`);
  }
}

function isKind({ scope }: Fields, kind: string): boolean {
  return isFields(scope) && scope['kind'] === kind;
}

/**
 * Returns the path of a file in the bundle, or null if it is missing or not a regular file. Threat: reading a device or
 * a named pipe never ends.
 */
function pathOf(directory: string, name: string): string | null {
  const path = join(directory, name);
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : null;
}

function contentOf(directory: string, name: string): Buffer | null {
  try {
    const path = pathOf(directory, name);
    return path === null ? null : readFileSync(path);
  } catch {
    return null;
  }
}

/** Returns a file's hash and length, or null if the file cannot be read. */
async function digestOf(
  directory: string,
  name: string,
): Promise<{ readonly hash: string; readonly bytes: number } | null> {
  try {
    const path = pathOf(directory, name);
    if (path === null) return null;
    const digest = createHash('sha256');
    let bytes = 0;
    for await (const part of createReadStream(path) as AsyncIterable<Buffer>) {
      digest.update(part);
      bytes += part.length;
    }
    return { hash: digest.digest('hex'), bytes };
  } catch {
    return null;
  }
}

function jsonOf(directory: string, name: string): unknown {
  const bytes = contentOf(directory, name);
  return bytes === null ? null : parse(bytes.toString('utf8'));
}

function checkCheckpoints(directory: string, manifest: Fields, key: KeyObject, keyId: string) {
  const checkpoints = new Map<number, Checkpoint>();
  const listed = jsonOf(directory, 'checkpoints.json');
  if (!Array.isArray(listed)) problem('checkpoints.json: missing or damaged');
  let before: Checkpoint | null = null;
  for (const [index, entry] of listOf(listed).entries()) {
    const fields = isFields(entry) && isFields(entry['checkpoint']) ? entry['checkpoint'] : null;
    if (fields === null || !isFields(entry)) {
      problem(`checkpoints.json: entry ${index + 1} is damaged`);
      continue;
    }
    const [number, count] = [Number(fields['number']), Number(fields['count'])];
    const checkpoint: Checkpoint = { fields, number, count, root: Buffer.from(String(fields['root']), 'hex') };
    const name = `checkpoints.json: checkpoint ${number}`;
    const signed = ['strongroom.checkpoint.2.signature', hashOfCheckpoint(fields)];
    if (fields['signed_by'] !== keyId) problem(`${name} is signed by another key`);
    else if (!isSigned(key, signed, fields['signature'])) {
      problem(`${name}: the signature is not valid: it was changed`);
    }
    if (fields['log_id'] !== manifest['log_id']) problem(`${name} belongs to another log`);
    if (before !== null) {
      if (number <= before.number) problem(`${name} is not after checkpoint ${before.number}`);
      else if (!isConsistent(before, checkpoint, hashes(entry['consistency']))) {
        problem(`${name}: the log that it signs does not begin with that of checkpoint ${before.number}`);
      }
    }
    checkpoints.set(number, checkpoint);
    before = checkpoint;
  }
  if (before !== null && before.number !== manifest['checkpoint']) {
    problem('checkpoints.json: the newest checkpoint of the manifest is missing');
  }
  return checkpoints;
}

/** Calls `use` with each line of a file and the line's location. Returns the number of lines. */
async function eachLine(directory: string, name: string, use: (line: Fields, where: string) => void): Promise<number> {
  let count = 0;
  const path = pathOf(directory, name);
  if (path === null) return 0;
  const lines = createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  try {
    for await (const text of lines) {
      count += 1;
      const line = parse(text);
      if (isFields(line)) use(line, `${name}: line ${count}`);
      else problem(`${name}: line ${count} is damaged`);
    }
  } catch (error) {
    problem(`${name}: cannot be read beyond line ${count} (${(error as NodeJS.ErrnoException).code})`);
  }
  return count;
}

type Streams = ReadonlySet<string> | null;

async function checkHistory(
  directory: string,
  manifest: Fields,
  checkpoints: ReadonlyMap<number, Checkpoint>,
  streams: Streams,
) {
  const next = new Map<string, number>();
  const ends = new Map<string, string>();
  let before = { index: -1, revision: -1 };
  const count = await eachLine(directory, 'history.jsonl', (line, where) => {
    const [index, revision, stream] = [Number(line['index']), Number(line['revision']), String(line['stream'])];
    const leaf = leafOf(line);
    const checkpoint = checkpoints.get(Number(line['checkpoint']));
    if (leaf === null) problem(`${where}: the event was changed: it is not part of its commit`);
    else if (checkpoint === undefined) problem(`${where}: its checkpoint is missing`);
    else if (!isIncluded(leaf, index, checkpoint.count, hashes(line['path']), checkpoint.root)) {
      problem(`${where}: checkpoint ${checkpoint.number} does not include this event as it is here`);
    }
    if (line['tenant'] !== manifest['tenant_id']) problem(`${where}: an event of another tenant`);
    if (index < before.index || (index === before.index && revision <= before.revision)) {
      problem(`${where}: out of order`);
    }
    before = { index, revision };
    if (streams !== null) {
      if (!streams.has(stream)) problem(`${where}: an event of a token that is not in tokens.json`);
      const expected = next.get(stream) ?? 0;
      if (revision !== expected) problem(`${where}: revision ${expected} of ${stream} is missing before this event`);
      next.set(stream, revision + 1);
    } else checkTime(manifest, Number(line['time']), where);
    if (line['type'] !== 'token.fenced') ends.set(stream, String(line['type']));
  });
  if (count !== manifest['events']) problem('history.jsonl: the manifest lists a different number of events');
  for (const stream of streams ?? []) {
    if (!next.has(stream)) problem(`history.jsonl: the events of ${stream} are missing`);
  }
  return ends;
}

function checkTime({ scope }: Fields, time: number, where: string): void {
  if (!isFields(scope)) return;
  const isInside = time >= Date.parse(String(scope['from'])) && time < Date.parse(String(scope['to']));
  if (!isInside) problem(`${where}: outside of the period`);
}

async function checkReads(directory: string, manifest: Fields, streams: Streams): Promise<void> {
  const count = await eachLine(directory, 'reads.jsonl', (line, where) => {
    if (line['tenant_id'] !== manifest['tenant_id']) problem(`${where}: an entry of another tenant`);
    if (streams === null) checkTime(manifest, Date.parse(String(line['created_at'])), where);
    else if (!streams.has(String(line['stream'])))
      problem(`${where}: an entry about a token that is not in tokens.json`);
  });
  if (count !== manifest['reads']) problem('reads.jsonl: the manifest lists a different number of entries');
}

function checkErasures(
  directory: string,
  manifest: Fields,
  { key, keyId, streams, ends }: { key: KeyObject; keyId: string; streams: Streams; ends: ReadonlyMap<string, string> },
): void {
  const statements = jsonOf(directory, 'erasures.json');
  if (!Array.isArray(statements)) problem('erasures.json: missing or damaged');
  const stated = new Set<string>();
  for (const [index, statement] of listOf(statements).entries()) {
    const where = `erasures.json: statement ${index + 1}`;
    if (!isFields(statement)) {
      problem(`${where} is damaged`);
      continue;
    }
    const { signature, ...signed } = statement;
    if (signed['signed_by'] !== keyId) problem(`${where} is signed by another key`);
    else if (!isSigned(key, ['strongroom.erasure.1', JSON.stringify(signed)], signature)) {
      problem(`${where}: the signature is not valid: it was changed`);
    }
    const stream = String(signed['stream']);
    if (streams !== null && !streams.has(stream)) problem(`${where} is about a token that is not in tokens.json`);
    if (signed['log_id'] !== manifest['log_id'] || signed['tenant_id'] !== manifest['tenant_id']) {
      problem(`${where} belongs to another log or tenant`);
    }
    stated.add(stream);
  }
  if (listOf(statements).length !== manifest['erasures']) {
    problem('erasures.json: the manifest lists a different number of statements');
  }
  if (streams === null) return;
  for (const [stream, type] of ends) {
    const isEnded = endings[type] === true;
    if (isEnded && !stated.has(stream)) problem(`erasures.json: the statement about ${stream} is missing`);
    if (!isEnded && stated.has(stream)) problem(`erasures.json: a statement about ${stream}, which was not deleted`);
  }
}

function streamsOf(directory: string, manifest: Fields): Streams {
  if (!isKind(manifest, 'tokens')) return null;
  const tokens = jsonOf(directory, 'tokens.json');
  if (!Array.isArray(tokens)) problem('tokens.json: missing or damaged');
  return new Set(listOf(tokens).map((token) => (isFields(token) ? String(token['stream']) : '')));
}

function keyOf(pem: Buffer | null): { readonly key: KeyObject; readonly keyId: string } | null {
  if (pem === null) return null;
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') return null;
    return { key, keyId: sha256(key.export({ type: 'spki', format: 'pem' })).toString('hex') };
  } catch {
    return null;
  }
}

/** Returns the content of the given public key file. Unlike the bundle, its path is trusted, and may be a link. */
function givenKey(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

function options(): { readonly directory: string; readonly publicKey: string | null } | null {
  const args = process.argv.slice(2);
  let publicKey: string | null = null;
  let directory = dirname(fileURLToPath(import.meta.url));
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--public-key') {
      publicKey = args[at + 1] ?? null;
      if (publicKey === null) return null;
      at += 1;
    } else if (arg.startsWith('-')) return null;
    else directory = arg;
  }
  return { directory, publicKey };
}

function counted(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}

async function main(): Promise<number> {
  const given = options();
  if (given === null) {
    process.stderr.write('usage: node verify.mjs [--public-key audit.pub] [directory]\n');
    return 2;
  }
  const { directory, publicKey } = given;
  const own = keyOf(contentOf(directory, 'audit.pub'));
  if (own === null) problem('audit.pub: missing, or not an Ed25519 public key');
  const trusted = publicKey === null ? own : keyOf(givenKey(publicKey));
  if (publicKey !== null && trusted === null) {
    process.stderr.write(`${publicKey} is not an Ed25519 public key.\n`);
    return 2;
  }
  if (own !== null && trusted !== null && own.keyId !== trusted.keyId) problem('audit.pub: not the given public key');
  const manifest = trusted === null ? null : readManifest(directory, trusted.key, trusted.keyId);
  if (trusted !== null && manifest !== null) {
    const { key, keyId } = trusted;
    await checkFiles(directory, manifest);
    const streams = streamsOf(directory, manifest);
    const checkpoints = checkCheckpoints(directory, manifest, key, keyId);
    const ends = await checkHistory(directory, manifest, checkpoints, streams);
    await checkReads(directory, manifest, streams);
    checkErasures(directory, manifest, { key, keyId, streams, ends });
    if (problems.length === 0) {
      const reads = counted(manifest['reads'], 'read');
      process.stdout.write(
        `${[
          `${counted(manifest['events'], 'event')}, each unchanged and included in a signed checkpoint`,
          `${counted(checkpoints.size, 'checkpoint')}, each signed, and each later one continues the earlier one`,
          `${reads} and ${counted(manifest['erasures'], 'erasure statement')}, as the vault signed them`,
          publicKey === null
            ? `signed by the key in this bundle (SHA-256 ${keyId}): compare it with the key that you know`
            : 'signed by the given key',
        ].join('\n')}\n`,
      );
      return 0;
    }
  }
  process.stdout.write(`${problems.map((text) => `PROBLEM ${text}`).join('\n')}\n`);
  return 3;
}

process.exitCode = await main();
