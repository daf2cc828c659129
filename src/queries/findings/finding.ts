/** The result of a check. If the check found a problem, `do` states how to fix it. */
export type Finding = {
  readonly check: string;
  readonly state: 'ok' | 'problem' | 'fixed';
  readonly says: string;
  readonly do?: string;
};

export function ok(check: string, says: string): Finding {
  return { check, state: 'ok', says };
}

export function problem(check: string, says: string, what: string): Finding {
  return { check, state: 'problem', says, do: what };
}
