import { grouped } from '../domain/text.js';
import { type Checkpoint, checkpointStream, readCheckpointEvent, rememberedOf } from '../events/audit/checkpoint.js';
import { treeRoot } from '../events/audit/merkle.js';
import type { ProvenClear } from '../events/commit.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { ChainLink, EventChain } from '../ports/event-chain.js';
import { type EventLog, ForgedLog } from '../ports/event-log.js';
import type { RememberedCheckpoint } from '../ports/key-store.js';
import { orderProblem, signatureProblem } from './check-checkpoint.js';
import { chainAt, clearPages, followLog, isAt, type LogPages, type ProvenChain } from './proven-chain.js';

type Deps = {
  readonly log: Pick<EventLog, 'readClear' | 'readNewest'>;
  readonly chain: EventChain;
  readonly keys: Pick<KeyRing, 'signingKey' | 'logMemory'>;
};

/**
 * The number of recent commits to keep in memory. A checkpoint can appear in the log several events after the last
 * commit that it signs. That commit must still be in memory when the checkpoint is verified.
 */
const recentMax = 20_000;
const checkpointsPerPage = 100;

/**
 * Verifies that the log continues from the checkpoint that the key store has recorded. Reads only the events after that
 * checkpoint. Throws ForgedLog unless all of the following are true:
 * - The log contains that checkpoint exactly as it was signed.
 * - Every later commit is authentic.
 * - These commits lead to the link that the key store has recorded, and to the newest link in the chain.
 *
 * With `wholePages`, also compares the ciphertexts of these events with their hashes.
 */
export async function expectContinuity({ log, chain, keys }: Deps, pages: LogPages = clearPages(log)): Promise<void> {
  const { checkpoint: remembered, link } = await keys.logMemory();
  await chain.follow();
  const from = remembered === null ? null : await checkpointIn(log, keys, remembered);
  await followTo(pages, from, [link, await chain.head()]);
}

/**
 * Reads all events after a position and verifies that none of them is missing. Starts at the newest checkpoint that
 * signs no event after the position, so the events between this checkpoint and the position are read too. The commits
 * must lead to the checkpoint and the link that the key store has recorded, and to the head of the chain. Calls
 * `onEvent` with each event as it is read, before all of them are verified. Throws ForgedLog if an event is missing or
 * not authentic.
 */
export async function readUnbroken(
  { log, chain, keys }: Deps,
  after: number,
  onEvent: (event: ProvenClear) => void,
): Promise<void> {
  const { checkpoint: remembered, link } = await keys.logMemory();
  const last = remembered === null ? null : await checkpointIn(log, keys, remembered);
  await chain.follow();
  const { pageSize, after: pageAfter } = clearPages(log);
  const seen: LogPages = {
    pageSize,
    async after(position) {
      const page = await pageAfter(position);
      for (const event of page) onEvent(event);
      return page;
    },
  };
  await followTo(seen, await checkpointUpTo(log, after), [
    last === null ? null : linkOf(last),
    link,
    await chain.head(),
  ]);
}

/** Returns the newest checkpoint that signs no event after a position. Returns null if no such checkpoint exists. */
async function checkpointUpTo(log: Deps['log'], position: number): Promise<Checkpoint | null> {
  let before: number | null = null;
  for (;;) {
    const page: readonly ProvenClear[] = await log.readNewest(checkpointStream, before, checkpointsPerPage);
    const found = page.map(readCheckpointEvent).find((checkpoint) => checkpoint.position <= position);
    const oldest = page.at(-1);
    if (found !== undefined || oldest === undefined || oldest.revision === 0) return found ?? null;
    before = oldest.revision;
  }
}

function linkOf({ position, count, hash }: Checkpoint): ChainLink {
  return { position, count, hash: Buffer.from(hash, 'hex') };
}

/**
 * Verifies the whole log, without relying on the checkpoint and the link that the key store has recorded. Throws
 * ForgedLog unless all of the following are true:
 * - Every commit is authentic.
 * - The commits lead to the newest link in the chain.
 * - Every checkpoint in the log signs exactly the commits before it.
 */
export async function expectWholeLog({ log, chain, keys }: Deps): Promise<void> {
  await chain.follow();
  const { publicKey } = await keys.signingKey();
  const recent = new Map<number, ProvenChain>();
  let last: Checkpoint | null = null;
  await followTo(clearPages(log), null, [await chain.head()], (at, event) => {
    recent.set(at.position, at);
    const [oldest] = recent.keys();
    if (recent.size > recentMax && oldest !== undefined) recent.delete(oldest);
    if (event.stream !== checkpointStream) return;
    const checkpoint = readCheckpointEvent(event);
    const wrong = signatureProblem(checkpoint, publicKey) ?? orderProblem(checkpoint, last);
    if (wrong !== null) throw new ForgedLog(wrong);
    if (!signs(checkpoint, recent.get(checkpoint.position))) {
      throw new ForgedLog(`checkpoint ${checkpoint.number} signs commits that differ from those before it`);
    }
    last = checkpoint;
  });
}

/**
 * Awaits a verification that runs at startup. If `isAllowed` is true, ignores ForgedLog, so that the commands that
 * report faults in the log can run on a faulty log.
 */
export async function unlessForged(work: Promise<unknown>, isAllowed: boolean): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isAllowed || !(error instanceof ForgedLog)) throw error;
  });
}

/**
 * Finds the checkpoint that the key store has recorded, and reads it from the log. Throws ForgedLog if the log does not
 * contain this checkpoint, or contains a different one in its place.
 */
async function checkpointIn(
  log: Deps['log'],
  keys: Deps['keys'],
  remembered: RememberedCheckpoint,
): Promise<Checkpoint> {
  const { number, hash, signature } = remembered;
  const [event] = await log.readNewest(checkpointStream, number, 1);
  const checkpoint = event?.revision === number - 1 ? readCheckpointEvent(event) : null;
  const found = checkpoint === null ? null : rememberedOf(checkpoint);
  if (checkpoint === null || found?.hash !== hash || found.signature !== signature) {
    throw new ForgedLog(`the log does not continue from checkpoint ${number}, which the key store has recorded`);
  }
  const wrong = signatureProblem(checkpoint, (await keys.signingKey()).publicKey);
  if (wrong !== null) throw new ForgedLog(wrong);
  return checkpoint;
}

/**
 * Reads the events after a checkpoint up to the head of the log, and computes the chain. Throws ForgedLog if a link in
 * `links` is after the checkpoint but is not part of the computed chain.
 */
async function followTo(
  pages: LogPages,
  from: Checkpoint | null,
  links: readonly (ChainLink | null)[],
  onCommit: (at: ProvenChain, event: ProvenClear) => void = () => undefined,
): Promise<void> {
  const start = chainAt(from);
  const due = links.filter((link) => link !== null).filter(({ position }) => position > start.position);
  const met = new Set<ChainLink>();
  await followLog(pages, start, Number.POSITIVE_INFINITY, (at, event) => {
    for (const link of due) if (isAt(at, link)) met.add(link);
    onCommit(at, event);
  });
  const missed = due.find((link) => !met.has(link));
  if (missed === undefined) return;
  const { count, position } = missed;
  throw new ForgedLog(
    count === 1
      ? `the commit up to position ${position} is not the one that the vault wrote`
      : `the ${grouped(count)} commits up to position ${position} are not those that the vault wrote`,
  );
}

function signs({ hash, count, root }: Checkpoint, at: ProvenChain | undefined): boolean {
  if (at === undefined || at.tree.size !== count) return false;
  return Buffer.from(at.link).toString('hex') === hash && Buffer.from(treeRoot(at.tree)).toString('hex') === root;
}
