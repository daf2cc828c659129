import { verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  checkpointClear,
  checkpointHash,
  checkpointStream,
  checkpointType,
  checkpointVersion,
  readCheckpointEvent,
  signedBytes,
} from '#src/events/audit/checkpoint.js';
import { emptyTree, treeRoot, withLeaf } from '#src/events/audit/merkle.js';
import { linkAfter, noLink, provenLeaf, type StoredEvent, sealCommit, sealedHash } from '#src/events/commit.js';
import type { RecordedEvent } from '#src/events/event.js';
import { endedKeys } from '#src/events/event-keys.js';
import { UnreadableEvent } from '#src/events/read-clear.js';

type Boxes = { readonly trace: string | null; readonly sealed: Record<'content' | 'cvc', string | null> };
type Stored = Omit<RecordedEvent, 'trace' | 'sealed'> & Boxes;

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const box = (text: string | null) => (text === null ? null : Buffer.from(text, 'base64'));
const bytes = (text: string) => Buffer.from(text, 'hex');
const hex = (some: Uint8Array) => Buffer.from(some).toString('hex');
const recorded = ({ trace, sealed, ...event }: Stored): RecordedEvent => ({
  ...event,
  trace: box(trace),
  sealed: { content: box(sealed.content), cvc: box(sealed.cvc) },
});

const recording = read('test/events/audit/recorded-version-2.json') as {
  readonly key: string;
  readonly public_key: string;
  readonly commits: readonly {
    readonly events: number;
    readonly digests: string | null;
    readonly sealed: readonly string[];
    readonly leaf: string;
    readonly mac: string;
    readonly link: string;
    readonly root: string;
  }[];
  readonly events: readonly Stored[];
};
const events = (read('test/events/recorded-version-1.json') as { readonly events: readonly Stored[] }).events.map(
  recorded,
);
const checkpoints = recording.events.map(recorded);
const key = bytes(recording.key);

/** The commits of the recorded log, each with its events and its recorded values. */
const commits = recording.commits.map((commit, index) => {
  const start = recording.commits.slice(0, index).reduce((sum, before) => sum + before.events, 0);
  const own = events.slice(start, start + commit.events);
  const first = own[0]?.revision ?? 0;
  return { ...commit, first, stream: own[0]?.stream ?? '', own };
});

/** The events as a store contains them. */
const stored: readonly StoredEvent[] = commits.flatMap(({ own, first, digests, sealed, mac }) =>
  own.map((event, index) => ({
    ...event,
    proof: {
      first,
      digests: digests === null ? null : bytes(digests),
      sealedHash: bytes(sealed[index] ?? ''),
      mac: bytes(mac),
    },
  })),
);

test('the commits, MACs, links and tree roots that result from the recorded events equal the recorded ones', () => {
  let [link, tree] = [noLink, emptyTree];
  for (const { own, stream, first, digests, sealed, leaf, mac, link: recordedLink, root } of commits) {
    const commit = sealCommit(key, stream, first - 1, own);
    link = linkAfter(link, commit.leaf);
    tree = withLeaf(tree, commit.leaf);
    expect([hex(commit.leaf), hex(link), hex(treeRoot(tree))]).toEqual([leaf, recordedLink, root]);
    for (const [index, { proof }] of commit.events.entries()) {
      expect(proof.digests === null ? null : hex(proof.digests)).toBe(digests);
      expect([hex(proof.sealedHash), hex(proof.mac), proof.first]).toEqual([sealed[index], mac, first]);
    }
  }
  expect(commits.some(({ own }) => own.length > 1)).toBe(true);
});

test('each recorded event is proven without the other events in its commit', () => {
  const leaves = commits.flatMap(({ own, leaf }) => own.map(() => leaf));
  expect(stored.map((event) => hex(provenLeaf(key, event) ?? Buffer.of()))).toEqual(leaves);
  expect(stored.map((event) => provenLeaf(Buffer.alloc(32), event)).filter((leaf) => leaf !== null)).toEqual([]);
});

test('every recorded checkpoint is read unchanged, signs the chain and the tree, and names the previous checkpoint', () => {
  let previous: string | null = null;
  for (const event of checkpoints) {
    const checkpoint = readCheckpointEvent(event);
    expect([event.stream, event.type, event.version]).toEqual([checkpointStream, checkpointType, checkpointVersion]);
    expect(checkpointClear(checkpoint)).toEqual(event.clear);
    const signed = commits[checkpoint.count - 1];
    expect([checkpoint.hash, checkpoint.root]).toEqual([signed?.link, signed?.root]);
    expect(checkpoint.previous).toBe(previous);
    previous = checkpointHash(checkpoint);
    const signature = Buffer.from(checkpoint.signature, 'base64');
    expect(verify(null, signedBytes(previous), recording.public_key, signature)).toBe(true);
  }
  expect(checkpoints.length).toBeGreaterThan(1);
});

test('a checkpoint marks no key for destruction', () => {
  expect(endedKeys(checkpoints)).toEqual([]);
});

test('every field of a checkpoint is signed', () => {
  const [, event] = checkpoints;
  if (event === undefined) throw new Error('no checkpoint was recorded');
  const checkpoint = readCheckpointEvent(event);
  const signed = checkpointHash(checkpoint);
  const [chain] = checkpoint.access;
  if (chain === undefined) throw new Error('it names no chain');
  const other = 'ee'.repeat(32);
  const changes = [
    { log_id: 'other' },
    { number: 3 },
    { time: 1 },
    { position: 1 },
    { count: 1 },
    { hash: other },
    { root: other },
    { hourly: 1 },
    { hours: 1 },
    { previous: null },
    { signed_by: other },
    { access: [] },
    { access: [{ ...chain, chain: 'other' }] },
    { access: [{ ...chain, sequence: 5 }] },
    { access: [{ ...chain, hash: other }] },
  ];
  for (const change of changes) {
    expect(checkpointHash({ ...checkpoint, ...change }), JSON.stringify(change)).not.toBe(signed);
  }
  const fields = new Set([...changes.flatMap((change) => Object.keys(change)), 'signature', 'peaks']);
  expect([...fields].sort()).toEqual(Object.keys(checkpoint).sort());
});

describe('a reader stops at a checkpoint that it cannot read', () => {
  const [first] = checkpoints;
  if (first === undefined) throw new Error('no checkpoint was recorded');
  const peaks = first.clear['peaks'] as readonly string[];
  test.each([
    ['from a newer version', { version: checkpointVersion + 1 }],
    ['of another type', { type: 'token.created' }],
    ['without its plaintext part', { clear: {} }],
    ['with an invalid hash', { clear: { ...first.clear, hash: 'x' } }],
    ['with peaks that do not lead to its root', { clear: { ...first.clear, peaks: [...peaks].reverse() } }],
    ['with one peak too many', { clear: { ...first.clear, peaks: [...peaks, 'ee'.repeat(32)] } }],
  ])('%s', (_, change) => {
    expect(() => readCheckpointEvent({ ...first, ...change })).toThrow(UnreadableEvent);
  });
});

describe('the MAC of an event', () => {
  const [event] = stored.filter(({ proof }) => proof.digests === null && proof.first > 0);
  const [first, second] = stored.filter(({ proof }) => proof.digests !== null);
  if (event === undefined || first === undefined || second === undefined) throw new Error('no such event was recorded');

  test.each<[string, Partial<StoredEvent>]>([
    ['stream', { stream: 'other' }],
    ['revision', { revision: 77 }],
    ['id', { id: 'other' }],
    ['type', { type: 'other' }],
    ['version', { version: 2 }],
    ['tenant', { tenantId: 'other' }],
    ['actor', { actorId: 'other' }],
    ['time', { time: 1 }],
    ['cmd', { cmd: 'd' }],
    ['plaintext part', { clear: { other: true } }],
    ['first revision', { proof: { ...event.proof, first: event.proof.first - 1 } }],
    ['hash of the sealed values', { proof: { ...event.proof, sealedHash: Buffer.alloc(32) } }],
    ['code', { proof: { ...event.proof, mac: Buffer.alloc(32) } }],
    ['code, which is truncated', { proof: { ...event.proof, mac: event.proof.mac.subarray(0, 16) } }],
    ['commit, which contains another event', { proof: { ...event.proof, digests: Buffer.alloc(64) } }],
  ])('is not valid if the event has another %s', (_, change) => {
    expect(provenLeaf(key, { ...event, ...change })).toBeNull();
  });

  test.each<[string, Partial<StoredEvent>]>([
    ['a changed fact', { actorId: 'other' }],
    ['another event’s revision', { revision: second.revision }],
    ['a revision outside its commit', { revision: first.proof.first + 3 }],
    ['a truncated commit', { proof: { ...first.proof, digests: first.proof.digests?.subarray(0, 32) ?? null } }],
    ['digests that are not hashes', { proof: { ...first.proof, digests: Buffer.alloc(33) } }],
    ['no digests', { proof: { ...first.proof, digests: null } }],
  ])('for an event in a commit with several events, is not valid with %s', (_, change) => {
    expect(provenLeaf(key, { ...first, ...change })).toBeNull();
  });

  test('does not depend on the position, because the positions in a restored log may differ', () => {
    expect(provenLeaf(key, { ...event, position: 99 })).not.toBeNull();
  });
});

describe('the hash of the sealed values', () => {
  const whole = { trace: Buffer.of(1), sealed: { content: Buffer.of(2), cvc: null } };
  test.each([
    ['trace', { ...whole, trace: Buffer.of(9) }],
    ['missing trace', { ...whole, trace: null }],
    ['content', { ...whole, sealed: { content: Buffer.of(9), cvc: null } }],
    ['content ciphertext, which is moved to the cvc', { ...whole, sealed: { content: null, cvc: Buffer.of(2) } }],
    [
      'empty ciphertext in place of a missing one',
      { ...whole, sealed: { content: Buffer.of(2), cvc: Buffer.alloc(0) } },
    ],
  ])('changes if the event has another %s', (_, changed) => {
    expect(hex(sealedHash(changed))).not.toBe(hex(sealedHash(whole)));
  });
});
