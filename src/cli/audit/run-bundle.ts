import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ManifestFacts } from '../../audit/bundle-manifest.js';
import type { ErasureStatement } from '../../audit/erasure-statement.js';
import { type MerkleProofs, merkleProofs } from '../../audit/merkle-proofs.js';
import { formatTimestamp } from '../../domain/time.js';
import type { Checkpoint } from '../../events/audit/checkpoint.js';
import { Failure } from '../failure.js';
import { writeNewDirectory } from '../files/out-file.js';
import { type ShowProgress, showProgress } from '../files/progress.js';
import { untilSignal } from '../files/until-signal.js';
import type { Answers } from '../operations.js';
import type { RunOperation } from '../run-command.js';
import type { BundleEvent } from './bundle-operations.js';
import { recordPages } from './run-record-export.js';

export type BundleOptions = {
  readonly key: string;
  /** The ids of the tokens, or null for a bundle about a period. */
  readonly ids: readonly string[] | null;
  /** The start and the end of the period in ms since the epoch. Both are null for a bundle about tokens. */
  readonly from: number | null;
  readonly to: number | null;
  /** Whether a statement of erasure is made for each token that has ended, or the bundle fails if there is such a token. */
  readonly erasures: 'state' | 'reject';
  readonly out: string;
  readonly json: boolean;
  /** The function that shows the progress. The default is `showProgress`. */
  readonly show?: ShowProgress;
};

export type BundleSummary = { readonly events: number; readonly reads: number; readonly erasures: number };

type Begin = Answers['bundle-begin'];

/** Writes a bundle to a new directory. If the function throws Failure, it leaves no files behind. */
export async function writeBundle(run: RunOperation, options: BundleOptions): Promise<BundleSummary> {
  const { out, json, show = showProgress } = options;
  const shown = { events: 0, done: 0, total: null as number | null, phase: null as string | null };
  const interrupt = untilSignal(() => undefined);
  const step = (change: Partial<typeof shown>): void => {
    if (interrupt.came()) throw new Failure('interrupted; nothing was written.');
    Object.assign(shown, change);
  };
  const progress = () => ({ ...shown, items: shown.events, fields: { events: shown.events } });
  const display = show(progress, { json, noun: 'event' });
  try {
    return await writeNewDirectory(out, (part) => writeFiles(run, options, part, step));
  } finally {
    interrupt.end();
    display.end();
  }
}

type Step = (change: { events?: number; done?: number; total?: number | null; phase?: string | null }) => void;

async function writeFiles(
  run: RunOperation,
  options: BundleOptions,
  directory: string,
  step: Step,
): Promise<BundleSummary> {
  const { key, ids, from, to } = options;
  const begin = await run('bundle-begin', { key, ids, erasures: options.erasures });
  const erasures = await erasuresOf(run, key, begin, step);
  const found = await collect(run, options, begin, directory, step);
  if (found.events === 0) {
    throw new Failure('there is no event in this period, so nothing was written. Choose another period.');
  }
  step({ phase: 'computing the proofs' });
  const checkpoints = await writeHistory(directory, found, step);
  step({ phase: 'reading the access log' });
  const reads = await writeReads(run, options, begin, directory, step);
  step({ phase: 'signing the manifest' });
  await write(directory, 'checkpoints.json', pretty(checkpoints));
  await write(directory, 'erasures.json', pretty(erasures));
  if (ids !== null) {
    await write(directory, 'tokens.json', pretty(begin.tokens.map(({ id, stream }) => ({ id, stream }))));
  }
  await write(directory, 'audit.pub', begin.public_key);
  await write(directory, 'README.txt', readme);
  await write(directory, 'verify.mjs', await verifier());
  const summary = { events: found.events, reads, erasures: erasures.length };
  const manifest: ManifestFacts = {
    strongroom_bundle: 1,
    log_id: begin.log_id,
    tenant_id: begin.tenant_id,
    made_at: formatTimestamp(begin.now),
    scope:
      ids === null
        ? { kind: 'period', from: formatTimestamp(from ?? 0), to: formatTimestamp(to ?? 0) }
        : { kind: 'tokens', tokens: begin.tokens.length },
    checkpoint: checkpoints.at(-1)?.checkpoint.number ?? 0,
    ...summary,
    files: await fileList(directory, ids !== null),
  };
  await write(directory, 'manifest.json', pretty(await run('bundle-sign', { key, manifest })));
  return summary;
}

async function erasuresOf(
  run: RunOperation,
  key: string,
  begin: Begin,
  step: Step,
): Promise<readonly ErasureStatement[]> {
  const statements: ErasureStatement[] = [];
  for (const { id, ended_by: endedBy } of begin.tokens) {
    if (endedBy === null) continue;
    step({ phase: 'checking erasures' });
    const { statement, problem } = await run('audit-erasure', { key, id });
    if (statement === null) throw new Failure(`${JSON.stringify(id)}: ${problem ?? ''}`, 3);
    statements.push(statement);
  }
  return statements;
}

type Found = {
  readonly events: number;
  readonly proofs: MerkleProofs;
  /** For each event in scope, the first checkpoint that covers it. In addition, the newest checkpoint. */
  readonly checkpoints: readonly Checkpoint[];
};

/**
 * Reads the log once. Writes the events in scope to a temporary file, because the events of a period may not fit in
 * memory.
 */
async function collect(
  run: RunOperation,
  { key, ids, from, to }: BundleOptions,
  begin: Begin,
  directory: string,
  step: Step,
): Promise<Found> {
  const streams = ids === null ? null : begin.tokens.map(({ stream }) => stream);
  const leaves: Buffer[] = [];
  const checkpoints: Checkpoint[] = [];
  /**
   * The indexes of the commits that contain events in scope but are not yet covered by any entry of `checkpoints`.
   */
  let pending: readonly number[] = [];
  let [count, events] = [0, 0];
  const file = await open(join(directory, foundName), 'wx', 0o600);
  try {
    for (let after: number | null = 0; after !== null; ) {
      step({ events, done: after, total: begin.upTo, phase: null });
      const asked = { key, after, upTo: begin.upTo, count, streams, from, to };
      const page: Answers['bundle-events'] = await run('bundle-events', asked);
      const wanted = page.events.filter(({ index }) => index < begin.count);
      await file.appendFile(wanted.map((event) => `${JSON.stringify(event)}\n`).join(''));
      events += wanted.length;
      pending = [...pending, ...wanted.map(({ index }) => index)];
      for (const checkpoint of page.checkpoints) {
        const left = pending.filter((index) => index >= checkpoint.count);
        if (left.length < pending.length || checkpoint.number === begin.checkpoint) checkpoints.push(checkpoint);
        pending = left;
      }
      const added = Buffer.from(page.leaves, 'base64');
      leaves.push(added);
      count += added.length / 32;
      after = page.next;
    }
  } finally {
    await file.close();
  }
  return { events, proofs: merkleProofs(Buffer.concat(leaves).subarray(0, begin.count * 32)), checkpoints };
}

type ListedCheckpoint = {
  readonly checkpoint: Omit<Checkpoint, 'peaks'>;
  readonly consistency: readonly string[];
};

/**
 * Writes the events in scope to the history file. Each event is written with the number of the first checkpoint that
 * covers it and the Merkle path from its commit to that checkpoint's root. Returns the checkpoints, each with a proof
 * that it continues the previous one.
 */
async function writeHistory(
  directory: string,
  { proofs, checkpoints }: Found,
  step: Step,
): Promise<readonly ListedCheckpoint[]> {
  for (const { number, count, root } of checkpoints) {
    if (proofs.rootOf(count).toString('hex') === root) continue;
    throw new Failure(
      `the events in the log do not match the root of checkpoint ${number}; nothing was written. Run ` +
        '`strongroom audit verify`.',
      3,
    );
  }
  const from = join(directory, foundName);
  const file = await open(join(directory, 'history.jsonl'), 'wx', 0o600);
  try {
    let covering = 0;
    let lines: string[] = [];
    for await (const text of createInterface({ input: createReadStream(from) })) {
      const event: BundleEvent = JSON.parse(text);
      while ((checkpoints[covering]?.count ?? Number.POSITIVE_INFINITY) <= event.index) covering += 1;
      const checkpoint = checkpoints[covering];
      if (checkpoint === undefined) throw new Error('the newest checkpoint covers every event');
      const path = proofs.inclusion(event.index, checkpoint.count).map((node) => node.toString('hex'));
      lines.push(`${JSON.stringify({ ...event, checkpoint: checkpoint.number, path })}\n`);
      if (lines.length < linesAtOnce) continue;
      step({});
      await file.appendFile(lines.join(''));
      lines = [];
    }
    await file.appendFile(lines.join(''));
    await file.sync();
  } finally {
    await file.close();
  }
  await rm(from);
  return checkpoints.map((checkpoint, at) => {
    const before = checkpoints[at - 1];
    const path = before === undefined ? [] : proofs.consistency(before.count, checkpoint.count);
    const { peaks: _, ...signed } = checkpoint;
    return { checkpoint: signed, consistency: path.map((node) => node.toString('hex')) };
  });
}

async function writeReads(
  run: RunOperation,
  { key, ids, from, to }: BundleOptions,
  begin: Begin,
  directory: string,
  step: Step,
): Promise<number> {
  const file = await open(join(directory, 'reads.jsonl'), 'wx', 0o600);
  let count = 0;
  const add = async (reads: readonly object[]): Promise<void> => {
    step({});
    await file.appendFile(reads.map((read) => `${JSON.stringify(read)}\n`).join(''));
    count += reads.length;
  };
  try {
    if (ids === null) {
      const filter = { tenant: begin.tenant_id, from, to };
      // Entries that the vault writes from now on might be missing from the bundle.
      for await (const page of recordPages(run, filter, { begins: false })) await add(page);
    }
    for (const { stream } of begin.tokens) {
      for (let offset = 0, total = 1; offset < total; ) {
        const page: Answers['bundle-reads'] = await run('bundle-reads', { key, stream, to: begin.now + 1, offset });
        await add(page.reads);
        total = page.total;
        offset += page.reads.length;
        if (page.reads.length === 0) break;
      }
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return count;
}

const foundName = 'history.found';
const linesAtOnce = 1_000;
const fixedNames = ['README.txt', 'audit.pub', 'checkpoints.json', 'erasures.json', 'history.jsonl', 'reads.jsonl'];

async function fileList(directory: string, hasTokens: boolean): Promise<ManifestFacts['files']> {
  const names = [...fixedNames, ...(hasTokens ? ['tokens.json'] : []), 'verify.mjs'];
  const files: ManifestFacts['files'] = [];
  for (const name of names) {
    const path = join(directory, name);
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path)) hash.update(chunk);
    files.push({ name, bytes: (await stat(path)).size, sha256: hash.digest('hex') });
  }
  return files;
}

async function write(directory: string, name: string, text: string): Promise<void> {
  const file: FileHandle = await open(join(directory, name), 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Returns the verifier, a single file that imports only modules that are built into Node.js. */
async function verifier(): Promise<string> {
  const text = await readFile(new URL('./bundle-verifier.js', import.meta.url), 'utf8');
  return text.replace(/^\/\/# sourceMappingURL=.*\n?/m, '');
}

const readme = `Evidence from a Strongroom token vault
======================================

Verify it
---------

Install Node.js 20 or later (https://nodejs.org) and run, in this directory:

    node verify.mjs --public-key PATH-TO-A-PUBLIC-KEY-THAT-YOU-TRUST

The program needs no packages and no network. Without --public-key it uses
audit.pub from this directory. In that case, compare the hash that it prints
with the hash of a key that you received in another way. Anyone who changed
these files could also have changed verify.mjs, so use the program from a
bundle that you trust, or read it first.

Files
-----

manifest.json     a signed list of the other files with their SHA-256 hashes
history.jsonl     the events, in order, each with the path to a checkpoint
checkpoints.json  signed checkpoints, each with the proof that it continues
                  the one before it
reads.jsonl       the access log: who read or changed the tokens, and when
erasures.json     signed statements about tokens that were erased
tokens.json       the ids of the tokens and their names in the log (in a
                  bundle about tokens, not about a period)
audit.pub         the Ed25519 public key of the vault
verify.mjs        the program that verifies all of this

What it proves
--------------

Each event was in the log, exactly as it is here, when its checkpoint was
signed (RFC 6962). No later checkpoint replaced that log with another one. In a
bundle about tokens, no event between a token's first and last event is
missing.

What it does not prove
----------------------

The vault states and signs the reads, the erasures and the ids of the tokens.
No checkpoint proves them to you, because the proof would need entries about
other people. In a bundle about a period, the vault states that no event is
missing. The holder of the vault's root key can sign a different history.
Checkpoints that were kept elsewhere (an anchor) reveal that: compare their
number, hash and root.

The bundle contains no values. It reveals how many commits the log had.
`;
