import { type Checkpoint, checkpointStream, readCheckpointEvent } from '../../events/audit/checkpoint.js';
import { noLink } from '../../events/audit/event-link.js';
import { noSealedParts } from '../../events/event.js';
import { UnreadableEvent } from '../../events/tokens/catalogue.js';
import type { ChainedEvent } from '../export-line.js';
import { orderProblem, signatureProblem } from './check-checkpoint.js';
import { follows, nameBreak, nameOf } from './name-break.js';
import type { Problem } from './problem.js';

/** How far is read on to name what was done where the chain breaks. */
const followingMax = 2_000;
/** How far is looked back for the same. */
const beforeMax = 200;
/** A checkpoint signs events that were there some moments before it. */
const rememberedMax = 100_000;
export const firstLink = Buffer.from(noLink).toString('hex');

export type LogChecks = {
  readonly publicKey: string;
  /** The log that it must be; null: whichever the first event names. */
  readonly logId: string | null;
  /** The checkpoint after whose position the events begin; null: they are all there are. */
  readonly from: Checkpoint | null;
  /** Checkpoints that were kept elsewhere, by number. */
  readonly anchored: ReadonlyMap<number, Checkpoint>;
  /** True: the log goes on after the last event that is given. */
  readonly isPart: boolean;
};

export type LogReport = {
  readonly problem: Problem | null;
  readonly events: number;
  /** Those with a link. Where links are made after their events, the newest may have none yet. */
  readonly linked: number;
  /** The newest checkpoint whose events are proven. */
  readonly proven: Checkpoint | null;
  /** Linked events after those that it proves. */
  readonly unsigned: number;
  /** All checkpoints that hold. */
  readonly checkpoints: readonly Checkpoint[];
};

/**
 * Recomputes the chain over events in log order and compares it with the stored links, and with what the checkpoints among
 * the events have signed. Stops at the first problem. Needs no key but the public one.
 */
export async function verifyLog(
  events: AsyncIterable<ChainedEvent>,
  { publicKey, logId, from, anchored, isPart }: LogChecks,
): Promise<LogReport> {
  const reader = lookingAhead(events);
  const links = new Map<number, { readonly count: number; readonly link: string }>();
  const checkpoints: Checkpoint[] = from === null ? [] : [from];
  let link = from?.hash ?? firstLink;
  let count = from?.count ?? 0;
  let seen = 0;
  const before: ChainedEvent[] = [];
  let isFirst = from === null;
  let unlinked: ChainedEvent | null = null;

  function report(problem: Problem | null): LogReport {
    const proven = checkpoints.at(-1) ?? null;
    const linked = count - (from?.count ?? 0);
    return { problem, events: seen, linked, proven, unsigned: count - (proven?.count ?? 0), checkpoints };
  }

  for (let chained = await reader.next(); chained !== null; chained = await reader.next()) {
    if (chained.event !== null) seen += 1;
    if (chained.link === null && chained.event !== null) {
      unlinked ??= chained;
      continue;
    }
    const broken = unlinked ?? chained;
    if (unlinked !== null || !follows(link, chained)) {
      return report(nameBreak({ link, count, before, broken, following: await reader.ahead(followingMax) }));
    }
    before.push({ ...chained, event: chained.event === null ? null : { ...chained.event, sealed: noSealedParts } });
    if (before.length > 2 * beforeMax) before.splice(0, beforeMax);
    link = chained.link ?? link;
    count += 1;
    if (chained.count !== null && chained.count !== count) {
      return report(nameBreak({ link, count: count - 1, before, broken: chained, following: [] }));
    }
    remember(links, chained.position, count, link);
    const { event } = chained;
    if (event === null) continue;
    if (isFirst && (event.type !== 'log.opened' || (logId !== null && event.clear['log_id'] !== logId))) {
      const message = `${nameOf(chained)} is not the first of this log`;
      return report({ kind: 'missing', position: chained.position, message });
    }
    isFirst = false;
    if (event.stream !== checkpointStream) continue;
    const wrong = checkpointProblem(chained);
    if (wrong !== null) return report({ kind: 'checkpoint', position: chained.position, message: wrong });
  }
  return report(isPart ? null : tailProblem());

  /** Checks a checkpoint among the events; one that holds is added. */
  function checkpointProblem({ event }: ChainedEvent): string | null {
    if (event === null) return null;
    let checkpoint: Checkpoint;
    try {
      checkpoint = readCheckpointEvent(event);
    } catch (error) {
      if (error instanceof UnreadableEvent) return error.message;
      throw error;
    }
    const last = checkpoints.at(-1) ?? null;
    // The event of the checkpoint that the events begin after lies among them.
    if (from !== null && checkpoint.number === from.number) {
      return checkpoint.signature === from.signature ? null : `checkpoint ${from.number} is there twice`;
    }
    const wrong =
      signatureProblem(checkpoint, publicKey) ?? orderProblem(checkpoint, last) ?? hashProblem(checkpoint, last);
    if (wrong !== null) return wrong;
    if (logId !== null && checkpoint.log_id !== logId) return `checkpoint ${checkpoint.number} is of another log`;
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
    const { number, position, count: signed, hash } = checkpoint;
    const at = links.get(position);
    if (at?.link === hash && at.count === signed) return null;
    const start = before === null ? 'the beginning' : `checkpoint ${before.number} (position ${before.position})`;
    const difference = at === undefined ? 0 : at.count - signed;
    const counted =
      difference === 0
        ? ''
        : difference < 0
          ? `; ${-difference} fewer than it signed`
          : `; ${difference} more than it signed`;
    return (
      `between ${start} and checkpoint ${number} (position ${position}) events were changed, removed, inserted or ` +
      `reordered, and their links made anew${counted}`
    );
  }

  function tailProblem(): Problem | null {
    const lastNumber = checkpoints.at(-1)?.number ?? 0;
    const lost = [...anchored.values()].filter(({ number }) => number > lastNumber);
    const newest = lost.sort((one, other) => other.number - one.number)[0];
    if (newest === undefined) return null;
    const { number, count: signed } = newest;
    const message = `the log was cut: the anchor holds checkpoint ${number} over ${signed} events, and the log ends with checkpoint ${lastNumber} and ${count} events`;
    return { kind: 'cut_tail', position: null, message };
  }
}

function remember(
  links: Map<number, { readonly count: number; readonly link: string }>,
  position: number,
  count: number,
  link: string,
): void {
  links.set(position, { count, link });
  if (links.size <= rememberedMax) return;
  const [oldest] = links.keys();
  if (oldest !== undefined) links.delete(oldest);
}

function lookingAhead(events: AsyncIterable<ChainedEvent>) {
  const iterator = events[Symbol.asyncIterator]();
  async function next(): Promise<ChainedEvent | null> {
    const { done, value } = await iterator.next();
    return done === true ? null : value;
  }
  return {
    next,
    async ahead(max: number): Promise<readonly ChainedEvent[]> {
      const found: ChainedEvent[] = [];
      while (found.length < max) {
        const chained = await next();
        if (chained === null) break;
        found.push(chained);
      }
      return found;
    },
  };
}
