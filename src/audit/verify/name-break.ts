import { eventLink } from '../../events/audit/event-link.js';
import type { ChainedEvent } from '../export-line.js';
import type { Problem } from './problem.js';

type Break = {
  /** The link up to which the chain holds, hex, and how many events it is over. */
  readonly link: string;
  readonly count: number;
  /** What was read before, the newest last; its links follow one another. */
  readonly before: readonly ChainedEvent[];
  /** The first that does not follow. */
  readonly broken: ChainedEvent;
  /** What comes after it, as far as was read. */
  readonly following: readonly ChainedEvent[];
};

/** Says what was done to the log where its chain breaks. */
export function nameBreak({ link, count, before, broken, following }: Break): Problem {
  const { position } = broken;
  const [next] = following;
  if (broken.event === null) {
    return {
      kind: 'missing',
      position,
      message: `the event at position ${position} is missing: only its link is left`,
    };
  }
  if (broken.link === null) {
    return { kind: 'inserted', position, message: `${nameOf(broken)} was inserted: no link was ever made for it` };
  }
  if (broken.count !== null && broken.count > count + 1) {
    const missing = broken.count - count - 1;
    const events = missing === 1 ? 'one event is' : `${missing} events are`;
    return { kind: 'missing', position, message: `${events} missing before ${nameOf(broken)}` };
  }
  const successor = following.find((later) => follows(link, later));
  if (successor !== undefined) {
    const wasLater = following.some((later) => later.link !== null && follows(later.link, broken));
    return wasLater
      ? {
          kind: 'reordered',
          position,
          message: `${nameOf(broken)} stands before ${nameOf(successor)}, and came after it`,
        }
      : { kind: 'inserted', position, message: `${nameOf(broken)} was inserted before ${nameOf(successor)}` };
  }
  const forged = before.findIndex(({ link: earlier }) => earlier !== null && follows(earlier, broken));
  const [first] = before.slice(forged + 1);
  if (forged >= 0 && first !== undefined) {
    const message = `${nameOf(first)} was inserted, with a link made for it, somewhere before ${nameOf(broken)}`;
    return { kind: 'inserted', position: first.position, message };
  }
  if (next === undefined || follows(broken.link, next)) {
    const message = `${nameOf(broken)} was changed, or what came right before it was removed`;
    return { kind: 'changed', position, message };
  }
  if (follows(hashOf(link, broken), next)) {
    return { kind: 'changed', position, message: `the link of ${nameOf(broken)} was changed; the event is as it was` };
  }
  return { kind: 'changed', position, message: `${nameOf(broken)} was changed` };
}

/** Whether an event has the link that it would have after this one. */
export function follows(link: string, chained: ChainedEvent): boolean {
  return chained.event !== null && hashOf(link, chained) === chained.link;
}

function hashOf(link: string, { event }: ChainedEvent): string {
  return event === null ? '' : eventLink(Buffer.from(link, 'hex'), event).toString('hex');
}

export function nameOf({ position, event }: ChainedEvent): string {
  if (event === null) return `the event at position ${position}`;
  const { type, id, revision, stream } = event;
  return `the event at position ${position} (${type} ${id}, revision ${revision} of ${stream})`;
}
