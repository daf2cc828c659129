import { setImmediate as endOfTurn } from 'node:timers/promises';
import { type Checkpoint, treeOf } from '../events/audit/checkpoint.js';
import { emptyTree, type MerkleTree, withLeaf } from '../events/audit/merkle.js';
import { endsCommit, linkAfter, noLink, type ProvenClear } from '../events/commit.js';
import type { ChainLink } from '../ports/event-chain.js';
import { type EventLog, ForgedLog } from '../ports/event-log.js';

/** The number of events per page. It is small enough that a page does not noticeably delay other requests. */
const pageSize = 250;

/**
 * A verified part of the log. The MACs of all events since a checkpoint are valid, and the chain proves the order of
 * the commits.
 */
export type ProvenChain = {
  /** The position of the last event of the newest commit. */
  readonly position: number;
  readonly link: Uint8Array;
  /** The Merkle tree over all commits up to that position. */
  readonly tree: MerkleTree;
  /** The number of events read since the checkpoint. */
  readonly events: number;
};

/** Returns the chain that a checkpoint signs. If `checkpoint` is null, returns the empty chain. */
export function chainAt(checkpoint: Checkpoint | null): ProvenChain {
  if (checkpoint === null) return { position: 0, link: noLink, tree: emptyTree, events: 0 };
  const { position, hash } = checkpoint;
  return { position, link: Buffer.from(hash, 'hex'), tree: treeOf(checkpoint), events: 0 };
}

/**
 * Reads the log from `from` up to its head or up to `upTo`, and computes the chain without using the stored links.
 * After each commit, calls `onCommit` with the chain so far and the last event of the commit. Throws ForgedLog.
 */
export async function followLog(
  log: Pick<EventLog, 'readClear'>,
  from: ProvenChain,
  upTo = Number.POSITIVE_INFINITY,
  onCommit: (chain: ProvenChain, last: ProvenClear) => void = () => undefined,
): Promise<ProvenChain> {
  let chain = from;
  let commit: ProvenClear[] = [];
  for (let after = from.position; ; ) {
    const page = await log.readClear(after, pageSize);
    for (const event of page) {
      // Stops at `upTo`, because this page may contain only part of a later commit that is being appended concurrently.
      if (event.position > upTo) return chain;
      expectNext(commit.at(-1), event);
      commit.push(event);
      if (!endsCommit(event)) continue;
      const { position, leaf } = event;
      const link = linkAfter(chain.link, leaf);
      chain = { position, link, tree: withLeaf(chain.tree, leaf), events: chain.events + commit.length };
      commit = [];
      onCommit(chain, event);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return chain;
    after = last.position;
    // Some stores read synchronously, so this lets other work run between pages.
    await endOfTurn();
  }
}

/** Returns true if a stored link equals the end of this computed chain. */
export function isAt(chain: ProvenChain, { position, count, hash }: ChainLink): boolean {
  return chain.position === position && chain.tree.size === count && Buffer.from(chain.link).equals(hash);
}

/**
 * Throws ForgedLog unless the event starts a commit or continues the commit of the previous event. The events of a
 * commit are adjacent in the log, so any other event means that events are missing.
 */
function expectNext(before: ProvenClear | undefined, event: ProvenClear): void {
  const { stream, revision, proof } = event;
  const follows =
    before === undefined
      ? revision === proof.first
      : stream === before.stream && proof.first === before.proof.first && revision === before.revision + 1;
  if (follows) return;
  const missing =
    before === undefined ? { stream, revision: proof.first } : { ...before, revision: before.revision + 1 };
  throw ForgedLog.at({ ...missing, position: null }, 'is missing');
}
