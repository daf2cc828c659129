import { commitSize, endsCommit, leafOf, linkAfter } from '../../events/commit.js';
import type { ChainedEvent } from '../export-line.js';

type Event = NonNullable<ChainedEvent['event']>;

/** A commit as it appears in the log, with its stored link. */
export type ChainedCommit = {
  /** The position of the commit's last event. If there are no events, the position of the link. */
  readonly position: number;
  readonly count: number | null;
  readonly link: string | null;
  /** The events of the commit. Empty if only the link exists. */
  readonly events: readonly Event[];
  /** The commit's leaf in the Merkle tree. Null if events of the commit are missing or were changed. */
  readonly leaf: Uint8Array | null;
};

/** Groups the events of a log into commits, in log order. */
export async function* chainedCommits(lines: AsyncIterable<ChainedEvent>): AsyncGenerator<ChainedCommit> {
  let open: Event[] = [];
  const commitOf = ({ position, count, link }: Omit<ChainedEvent, 'event'>): ChainedCommit => {
    const events = open;
    open = [];
    return { position, count, link, events, leaf: wholeLeaf(events) };
  };
  for await (const { event, ...place } of lines) {
    const last = open.at(-1);
    if (last !== undefined && (event === null || !isSameCommit(last, event))) {
      yield commitOf({ position: last.position, count: null, link: null });
    }
    if (event !== null) open.push(event);
    if (event === null || place.link !== null || endsCommit(event)) yield commitOf(place);
  }
  const last = open.at(-1);
  if (last !== undefined) yield commitOf({ position: last.position, count: null, link: null });
}

/** Returns true if the stored link of a commit is the one that must follow `link`. Links are in hex. */
export function follows(link: string, commit: ChainedCommit): boolean {
  return commit.link !== null && hashAfter(link, commit) === commit.link;
}

/**
 * Returns the link that a commit must have if it comes after `link`. Returns null if the commit is incomplete or was
 * changed.
 */
export function hashAfter(link: string, { leaf }: ChainedCommit): string | null {
  return leaf === null ? null : linkAfter(Buffer.from(link, 'hex'), leaf).toString('hex');
}

/**
 * Returns the first event whose proof is invalid. If all proofs are valid, returns the commit's last event. Returns
 * null if the commit has no events.
 */
export function suspectOf({ events }: ChainedCommit): Event | null {
  return events.find((event) => leafOf(event) === null) ?? events.at(-1) ?? null;
}

function wholeLeaf(events: readonly Event[]): Uint8Array | null {
  const [first] = events;
  if (first === undefined || events.length !== commitSize(first.proof)) return null;
  const leaf = leafOf(first);
  const isWhole = events.every(
    (event, index) =>
      event.revision === first.proof.first + index && leaf?.equals(leafOf(event) ?? Buffer.of()) === true,
  );
  return isWhole ? leaf : null;
}

function isSameCommit(one: Event, other: Event): boolean {
  return one.stream === other.stream && one.proof.first === other.proof.first && other.revision === one.revision + 1;
}
