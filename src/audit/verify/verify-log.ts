import { counted } from '../../domain/text.js';
import { type Checkpoint, checkpointStream, readCheckpointEvent, treeOf } from '../../events/audit/checkpoint.js';
import { emptyTree, type MerkleTree, treeRoot, withLeaf } from '../../events/audit/merkle.js';
import { endsCommit, noLink } from '../../events/commit.js';
import type { ClearEvent } from '../../events/event.js';
import { UnreadableEvent } from '../../events/read-clear.js';
import { orderProblem, signatureProblem } from '../check-checkpoint.js';
import type { ChainedEvent } from '../export-line.js';
import { type ChainedCommit, chainedCommits, follows } from './chained-commits.js';
import { diagnoseBreak, nameOf } from './diagnose-break.js';
import type { Problem } from './problem.js';

/** How many commits after a break are read to diagnose it. */
const followingMax = 2_000;
/** How many commits before a break are kept to diagnose it. */
const beforeMax = 200;
/**
 * The number of commits to keep for the comparison with checkpoints. A checkpoint can appear in the log several events
 * after the last commit that it signs. That commit must still be available when the checkpoint is verified.
 */
const rememberedMax = 100_000;
export const firstLink = Buffer.from(noLink).toString('hex');

export type LogChecks = {
  readonly publicKey: string;
  /** The id of the expected log. If null, any log id is accepted. */
  readonly logId: string | null;
  /** The events begin after this checkpoint. Null if the events are the whole log. */
  readonly from: Checkpoint | null;
  /** The checkpoints received by the anchor, keyed by number. */
  readonly anchored: ReadonlyMap<number, Checkpoint>;
  /** True if the log continues after these events. */
  readonly isPart: boolean;
};

export type LogReport = {
  readonly problem: Problem | null;
  readonly events: number;
  /**
   * The number of events in commits that have a link. Some stores write the links later than the events, so the newest
   * commits may have no link yet.
   */
  readonly linked: number;
  /** The newest checkpoint that matches the events. */
  readonly proven: Checkpoint | null;
  /** The number of linked commits that are newer than the commits signed by `proven`. */
  readonly unsigned: number;
  /** All valid checkpoints among the events. */
  readonly checkpoints: readonly Checkpoint[];
};

/**
 * Verifies a log. Recomputes the chain and the Merkle tree over the commits in log order, compares the chain with the
 * stored links, and compares both with the checkpoints among the events. Stops at the first problem. Needs only the
 * public key.
 */
export async function verifyLog(
  events: AsyncIterable<ChainedEvent>,
  { publicKey, logId, from, anchored, isPart }: LogChecks,
): Promise<LogReport> {
  const reader = lookingAhead(chainedCommits(events));
  const links = new Map<number, Linked>();
  const checkpoints: Checkpoint[] = from === null ? [] : [from];
  let link = from?.hash ?? firstLink;
  let tree = from === null ? emptyTree : treeOf(from);
  let [seen, linked] = [0, 0];
  const before: ChainedCommit[] = [];
  let isFirst = from === null;
  let unlinked: ChainedCommit | null = null;

  function report(problem: Problem | null): LogReport {
    const proven = checkpoints.at(-1) ?? null;
    return { problem, events: seen, linked, proven, unsigned: tree.size - (proven?.count ?? 0), checkpoints };
  }

  for (let commit = await reader.next(); commit !== null; commit = await reader.next()) {
    seen += commit.events.length;
    if (commit.link === null && (commit.leaf !== null || (isPart && isCutOff(commit)))) {
      unlinked ??= commit;
      continue;
    }
    const broken = unlinked ?? commit;
    const count = tree.size;
    if (unlinked !== null || !follows(link, commit)) {
      return report(diagnoseBreak({ link, count, before, broken, following: await reader.ahead(followingMax) }));
    }
    before.push(commit);
    if (before.length > 2 * beforeMax) before.splice(0, beforeMax);
    link = commit.link ?? link;
    if (commit.leaf !== null) tree = withLeaf(tree, commit.leaf);
    linked += commit.events.length;
    if (commit.count !== null && commit.count !== tree.size) {
      return report(diagnoseBreak({ link, count, before, broken: commit, following: [] }));
    }
    remember(links, commit.position, { link, tree });
    const [event] = commit.events;
    if (event === undefined) continue;
    if (isFirst && (event.type !== 'log.opened' || (logId !== null && event.clear['log_id'] !== logId))) {
      const message = `${nameOf(commit)} is not the first of this log`;
      return report({ kind: 'missing', position: event.position, message });
    }
    isFirst = false;
    if (event.stream !== checkpointStream) continue;
    const wrong = checkpointProblem(event);
    if (wrong !== null) return report({ kind: 'checkpoint', position: event.position, message: wrong });
  }
  return report(isPart ? null : tailProblem());

  /**
   * Verifies a checkpoint among the events. If it is valid, adds it to the valid checkpoints and returns null. If not,
   * returns the problem.
   */
  function checkpointProblem(event: ClearEvent): string | null {
    let checkpoint: Checkpoint;
    try {
      checkpoint = readCheckpointEvent(event);
    } catch (error) {
      if (error instanceof UnreadableEvent) return error.message;
      throw error;
    }
    const last = checkpoints.at(-1) ?? null;
    // The checkpoint `from` is stored in an event after the position that the checkpoint signs. That event is therefore
    // among these events, and must contain the same checkpoint.
    if (from !== null && checkpoint.number === from.number) {
      return checkpoint.signature === from.signature ? null : `checkpoint ${from.number} occurs twice`;
    }
    const wrong =
      signatureProblem(checkpoint, publicKey) ?? orderProblem(checkpoint, last) ?? hashProblem(checkpoint, last);
    if (wrong !== null) return wrong;
    if (logId !== null && checkpoint.log_id !== logId) return `checkpoint ${checkpoint.number} belongs to another log`;
    if (last === null && from === null && checkpoint.number !== 1) {
      return `checkpoint 1 is missing before checkpoint ${checkpoint.number}`;
    }
    const kept = anchored.get(checkpoint.number);
    if (kept !== undefined && kept.signature !== checkpoint.signature) {
      return `checkpoint ${checkpoint.number} is not the one that the anchor holds`;
    }
    checkpoints.push(checkpoint);
    return null;
  }

  function hashProblem(checkpoint: Checkpoint, before: Checkpoint | null): string | null {
    const { number, position, count: signed, hash, root } = checkpoint;
    const at = links.get(position);
    if (at?.link === hash && at.tree.size === signed && Buffer.from(treeRoot(at.tree)).toString('hex') === root)
      return null;
    const start = before === null ? 'the beginning' : `checkpoint ${before.number} (position ${before.position})`;
    const difference = at === undefined ? 0 : at.tree.size - signed;
    const changed =
      difference === 0
        ? ''
        : difference < 0
          ? `; ${counted(-difference, 'commit')} fewer than it signed`
          : `; ${counted(difference, 'commit')} more than it signed`;
    return (
      `between ${start} and checkpoint ${number} (position ${position}) events were changed, removed, inserted or ` +
      `reordered, and their links were recomputed${changed}`
    );
  }

  function tailProblem(): Problem | null {
    const lastNumber = checkpoints.at(-1)?.number ?? 0;
    const lost = [...anchored.values()].filter(({ number }) => number > lastNumber);
    const newest = lost.sort((one, other) => other.number - one.number)[0];
    if (newest === undefined) return null;
    const { number, count: signed } = newest;
    const message =
      `the log was truncated: the anchor holds checkpoint ${number} over ${counted(signed, 'commit')}, and the log ` +
      `ends with checkpoint ${lastNumber} and ${counted(tree.size, 'commit')}`;
    return { kind: 'cut_tail', position: null, message };
  }
}

/** Returns true if events are missing at the end of this commit. */
function isCutOff({ events }: ChainedCommit): boolean {
  const last = events.at(-1);
  return last !== undefined && !endsCommit(last);
}

type Linked = { readonly link: string; readonly tree: MerkleTree };

function remember(links: Map<number, Linked>, position: number, linked: Linked): void {
  links.set(position, linked);
  if (links.size <= rememberedMax) return;
  const [oldest] = links.keys();
  if (oldest !== undefined) links.delete(oldest);
}

function lookingAhead(commits: AsyncGenerator<ChainedCommit>) {
  async function next(): Promise<ChainedCommit | null> {
    const { done, value } = await commits.next();
    return done === true ? null : value;
  }
  return {
    next,
    async ahead(max: number): Promise<readonly ChainedCommit[]> {
      const found: ChainedCommit[] = [];
      while (found.length < max) {
        const commit = await next();
        if (commit === null) break;
        found.push(commit);
      }
      return found;
    },
  };
}
