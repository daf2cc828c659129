import type { FieldErrors } from '../domain/field-errors.js';
import { problemOf } from '../http/error-handler.js';
import { problemCatalogue } from '../http/problem/problem-catalogue.js';

/** Problems that only the console has. The API's problems are in `http/problem/problem-catalogue.ts`. */
const consoleProblems = {
  wrong_host: {
    status: 421,
    title: 'Wrong address',
    detail: 'The console does not serve this host name.',
    advice: 'Open the console under a name that console.allowed_hosts lists, or under its loopback address.',
  },
  cross_site: {
    status: 403,
    title: 'Request from another site',
    detail: 'Another site sent this request. Nothing was changed.',
    advice: 'Use the forms of the console itself.',
  },
  form_expired: {
    status: 403,
    title: 'The form has expired',
    detail: 'The form was opened in another session, or before you signed in. Nothing was changed.',
    advice: 'Go back, reload the page, and send the form again.',
  },
  session_ended: {
    status: 401,
    title: 'You are signed out',
    detail: 'The session has ended.',
    advice: 'Sign in again.',
  },
  not_opened: {
    status: 403,
    title: 'Your session does not open this page',
    detail: 'The page needs a key of another kind, or an operator.',
    advice: 'Sign out, then sign in with the key or code that opens the page.',
  },
} as const;

export type ConsoleProblemCode = keyof typeof consoleProblems;

/** Ends a request with a problem of the console. */
export class ConsoleProblem extends Error {
  readonly code: ConsoleProblemCode;

  constructor(code: ConsoleProblemCode) {
    super(code);
    this.name = 'ConsoleProblem';
    this.code = code;
  }
}

/** A problem as a page shows it. It contains only texts of ours. */
export type ShownProblem = {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly advice: string;
  readonly errors: FieldErrors;
  readonly retryAfterMs: number | null;
};

/** Returns what a page shows for any thrown error: for an unexpected one, only that it was unexpected. */
export function shownProblem(error: unknown): ShownProblem {
  const code = consoleCodeOf(error);
  if (code !== null) return { code, ...consoleProblems[code], errors: {}, retryAfterMs: null };
  const problem = problemOf(error);
  const { status, title, detail, advice } = problemCatalogue[problem.code];
  return {
    ...{ code: problem.code, status, title, advice, detail: problem.detail ?? detail },
    ...{ errors: problem.errors ?? {}, retryAfterMs: problem.retryAfterMs ?? null },
  };
}

function consoleCodeOf(error: unknown): ConsoleProblemCode | null {
  if (error instanceof ConsoleProblem) return error.code;
  const { code } = error as { readonly code?: unknown };
  return code === 'FST_CSRF_MISSING_SECRET' || code === 'FST_CSRF_INVALID_TOKEN' ? 'form_expired' : null;
}
