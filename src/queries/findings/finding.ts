import type { FoundProblem } from '../../ports/store-problem.js';

/**
 * The result of a check. If the check found a problem, `do` states how to fix it. `do` is absent if `says` already
 * states that. A `note` is a risk that only the operator can judge. `do` then states what the operator can do about it,
 * and the note does not count as a problem.
 */
export type Finding = {
  readonly check: string;
  readonly state: 'ok' | 'note' | 'problem' | 'fixed';
  readonly says: string;
  readonly do?: string;
};

export function ok(check: string, says: string): Finding {
  return { check, state: 'ok', says };
}

/** Returns a problem. Omit `what` if `says` already states how to fix the problem. */
export function problem(check: string, says: string, what?: string): Finding {
  return what === undefined ? { check, state: 'problem', says } : { check, state: 'problem', says, do: what };
}

/** Returns the finding for a problem with a store. */
export function problemFound({ check, says, do: what }: FoundProblem): Finding {
  return problem(check, says, `${what}.`);
}

export function note(check: string, says: string, what: string): Finding {
  return { check, state: 'note', says, do: what };
}
