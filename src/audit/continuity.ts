import { grouped } from '../domain/text.js';
import { type Checkpoint, checkpointStream, readCheckpointEvent, rememberedOf } from '../events/audit/checkpoint.js';
import { treeRoot } from '../events/audit/merkle.js';
import type { ProvenClear } from '../events/commit.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { ChainLink, EventChain } from '../ports/event-chain.js';
import { type EventLog, ForgedLog } from '../ports/event-log.js';
import type { RememberedCheckpoint } from '../ports/key-store.js';
import { orderProblem, signatureProblem } from './check-checkpoint.js';
import { chainAt, followLog, isAt, type ProvenChain } from './proven-chain.js';

type Deps = {
  readonly log: Pick<EventLog, 'readClear' | 'readNewest'>;
  readonly chain: EventChain;
  readonly keys: Pick<KeyRing, 'signingKey' | 'logMemory'>;
};

/**
 * The number of recent commits to keep in memory. They are needed because a checkpoint may appear in the log some
 * events after the last commit that it signs.
 */
const recentMax = 20_000;
const checkpointsPerPage = 100;

/**
 * Verifies that the log continues from the checkpoint recorded in the key store: that the log contains this checkpoint
 * as it was signed, that every later commit is authentic, and that these commits lead to the link in the key store and
 * to the newest link in the chain. Reads only the events since that checkpoint. Throws ForgedLog.
 */
export async function expectContinuity({ log, chain, keys }: Deps): Promise<void> {
  const { checkpoint: remembered, link } = await keys.logMemory();
  await chain.follow();
  const from = remembered === null ? null : await checkpointIn(log, keys, remembered);
  await followTo(log, from, [link, await chain.head()]);
}

/**
 * Reads all events after a position, and some events before it, and verifies that none are missing. Starts at the
 * newest checkpoint that signs nothing after the position. The commits after that checkpoint must lead to the
 * checkpoint and link recorded in the key store, and to the head of the chain. Calls `onEvent` with each event before
 * the verification is complete. Throws ForgedLog.
 */
export async function readUnbroken(
  { log, chain, keys }: Deps,
  after: number,
  onEvent: (event: ProvenClear) => void,
): Promise<void> {
  const { checkpoint: remembered, link } = await keys.logMemory();
  const last = remembered === null ? null : await checkpointIn(log, keys, remembered);
  await chain.follow();
  const seen: Pick<EventLog, 'readClear'> = {
    async readClear(from, limit) {
      const page = await log.readClear(from, limit);
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

/** Returns the newest checkpoint that signs nothing after a position. Returns null if there is no such checkpoint. */
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
 * Verifies the whole log: that every commit is authentic, that the commits lead to the newest link in the chain, and
 * that every checkpoint in the log signs the commits before it. Does not depend on the log records in the key store.
 * Throws ForgedLog.
 */
export async function expectWholeLog({ log, chain, keys }: Deps): Promise<void> {
  await chain.follow();
  const { publicKey } = await keys.signingKey();
  const recent = new Map<number, ProvenChain>();
  let last: Checkpoint | null = null;
  await followTo(log, null, [await chain.head()], (at, event) => {
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
 * Awaits work at startup. If `isAllowed` is true, ignores ForgedLog. Commands that report faults in the log use this.
 */
export async function unlessForged(work: Promise<unknown>, isAllowed: boolean): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isAllowed || !(error instanceof ForgedLog)) throw error;
  });
}

/**
 * Reads the checkpoint that the key store has recorded from the log. Throws ForgedLog if that checkpoint is missing or
 * differs from the record.
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
 * Reads the log from a checkpoint to its head. Throws ForgedLog unless the computed chain contains every link in
 * `links` that comes after the checkpoint.
 */
async function followTo(
  log: Pick<EventLog, 'readClear'>,
  from: Checkpoint | null,
  links: readonly (ChainLink | null)[],
  onCommit: (at: ProvenChain, event: ProvenClear) => void = () => undefined,
): Promise<void> {
  const start = chainAt(from);
  const due = links.filter((link) => link !== null).filter(({ position }) => position > start.position);
  const met = new Set<ChainLink>();
  await followLog(log, start, Number.POSITIVE_INFINITY, (at, event) => {
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
