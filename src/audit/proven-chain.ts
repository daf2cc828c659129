import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Checkpoint, treeOf } from '../events/audit/checkpoint.js';
import { emptyTree, type MerkleTree, withLeaf } from '../events/audit/merkle.js';
import { endsCommit, linkAfter, noLink, type ProvenClear } from '../events/commit.js';
import type { ChainLink } from '../ports/event-chain.js';
import { type EventLog, ForgedLog } from '../ports/event-log.js';

/**
 * The number of events per page when ciphertexts are read. A ciphertext can be 512 KiB long, so a page has up to 4 MiB.
 * Some stores read a page in one step, in which no other request runs.
 */
export const wholePageSize = 8;
/** The number of events per page without ciphertexts. */
const clearPageSize = 250;

/**
 * Reads the log in pages that are so small that the verification does not noticeably delay other requests. A page with
 * fewer than `pageSize` events is the last one.
 */
export type LogPages = {
  readonly pageSize: number;
  readonly after: (position: number) => Promise<readonly ProvenClear[]>;
};

/** Reads the events without their ciphertexts. */
export function clearPages(log: Pick<EventLog, 'readClear'>): LogPages {
  return { pageSize: clearPageSize, after: (position) => log.readClear(position, clearPageSize) };
}

/** Reads the events with their ciphertexts, and compares each ciphertext with its hash. */
export function wholePages(log: Pick<EventLog, 'readAll'>): LogPages {
  return { pageSize: wholePageSize, after: (position) => log.readAll(position, wholePageSize) };
}

/**
 * A verified part of the log. It begins after a checkpoint, or at the start of the log. The MACs of its events are
 * valid, and the chain proves the order of its commits.
 */
export type ProvenChain = {
  /** The position of the last event in the newest commit. */
  readonly position: number;
  readonly link: Uint8Array;
  /** The Merkle tree over all commits up to `position`. */
  readonly tree: MerkleTree;
  /** The number of events in this part of the log. */
  readonly events: number;
};

/** Returns the chain signed by a checkpoint. If `checkpoint` is null, returns the empty chain. */
export function chainAt(checkpoint: Checkpoint | null): ProvenChain {
  if (checkpoint === null) return { position: 0, link: noLink, tree: emptyTree, events: 0 };
  const { position, hash } = checkpoint;
  return { position, link: Buffer.from(hash, 'hex'), tree: treeOf(checkpoint), events: 0 };
}

/**
 * Reads the log from the end of `from` up to the position `upTo`, or up to the head of the log if it comes first.
 * Computes the chain without using the stored links. After each commit, calls `onCommit` with the chain up to that
 * commit, and with the last event of the commit. Throws ForgedLog if an event is missing or not authentic.
 */
export async function followLog(
  pages: LogPages,
  from: ProvenChain,
  upTo: number,
  onCommit: (chain: ProvenChain, last: ProvenClear) => void = () => undefined,
): Promise<ProvenChain> {
  let chain = from;
  let commit: ProvenClear[] = [];
  for (let after = from.position; ; ) {
    const page = await pages.after(after);
    for (const event of page) {
      // Events after `upTo` are ignored. They may belong to a commit that is still in progress, so this page may
      // contain only a part of that commit.
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
    if (last === undefined || page.length < pages.pageSize) return chain;
    after = last.position;
    // Some stores read synchronously. This pause allows other work to run between two pages.
    await nextTurn();
  }
}

/** Returns true if a stored link equals the link at the end of this computed chain. */
export function isAt(chain: ProvenChain, { position, count, hash }: ChainLink): boolean {
  return chain.position === position && chain.tree.size === count && Buffer.from(chain.link).equals(hash);
}

/**
 * Throws ForgedLog if an event neither starts a commit nor continues the commit of the previous event. The events of a
 * commit are adjacent in the log, so such an event means that other events are missing.
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
