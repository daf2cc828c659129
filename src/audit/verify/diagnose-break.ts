import { counted } from '../../domain/text.js';
import { type ChainedCommit, follows, hashAfter, suspectOf } from './chained-commits.js';
import type { Problem } from './problem.js';

type Break = {
  /** The last valid link of the chain, in hex. `count` is the number of commits up to and including that link. */
  readonly link: string;
  readonly count: number;
  /** The commits before the break, oldest first. Each link follows from the link before it. */
  readonly before: readonly ChainedCommit[];
  /** The first commit whose link does not follow from the link before it. */
  readonly broken: ChainedCommit;
  /** Commits after the broken commit, oldest first. Only a limited number of them are read. */
  readonly following: readonly ChainedCommit[];
};

/** Finds out how the log was changed at the point where its chain breaks. */
export function diagnoseBreak({ link, count, before, broken, following }: Break): Problem {
  const [next] = following;
  const suspect = suspectOf(broken);
  const name = nameOf(broken);
  const position = suspect?.position ?? broken.position;
  const problem = (kind: Problem['kind'], message: string, at = position): Problem => ({ kind, position: at, message });
  if (suspect === null) return problem('missing', `${name} is missing: only its link is left`);
  if (broken.link === null) {
    return broken.leaf === null
      ? problem('missing', `events that were written together with ${name} are missing`)
      : problem('inserted', `${name} was inserted: it has no link`);
  }
  const successor = following.find((later) => follows(link, later));
  const wasLater = following.some((later) => later.link !== null && follows(later.link, broken));
  if (successor !== undefined && wasLater) {
    return problem('reordered', `${name} comes before ${nameOf(successor)}, but was written after it`);
  }
  if (broken.count !== null && broken.count > count + 1) {
    const missing = broken.count - count - 1;
    return problem('missing', `${counted(missing, 'commit is', 'commits are')} missing before ${name}`);
  }
  if (successor !== undefined) return problem('inserted', `${name} was inserted before ${nameOf(successor)}`);
  const forged = before.findIndex(({ link: earlier }) => earlier !== null && follows(earlier, broken));
  const [first] = before.slice(forged + 1);
  if (forged >= 0 && first !== undefined) {
    const message = `${nameOf(first)} was inserted, together with a forged link, somewhere before ${name}`;
    return problem('inserted', message, suspectOf(first)?.position ?? first.position);
  }
  if (next === undefined || follows(broken.link, next)) {
    return problem('changed', `${name} was changed, or the commit right before it was removed`);
  }
  const expected = hashAfter(link, broken);
  if (expected !== null && follows(expected, next)) {
    return problem('changed', `the link of ${name} was changed; the event itself was not`);
  }
  return problem('changed', `${name} was changed`);
}

export function nameOf(commit: ChainedCommit): string {
  const event = suspectOf(commit);
  if (event === null) return `the event at position ${commit.position}`;
  const { position, type, id, revision, stream } = event;
  return `the event at position ${position} (${type} ${id}, revision ${revision} of ${stream})`;
}
