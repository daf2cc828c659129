import type { FieldErrors } from '../domain/field-errors.js';
import { counted } from '../domain/text.js';
import { problemOf, retryAfterSeconds } from '../http/error-handler.js';
import { type ProblemCode, problemCatalogue } from '../http/problem/problem-catalogue.js';

/** The problems that occur only in the console. The API's problems are in `http/problem/problem-catalogue.ts`. */
const consoleProblems = {
  wrong_host: {
    status: 421,
    title: 'Wrong address',
    detail: 'The console does not serve this host name.',
    advice: 'Open the console at a host name that console.allowed_hosts lists, or at its loopback address.',
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
    advice: 'Open the form again. What you typed was not kept.',
  },
  cookie_missing: {
    status: 403,
    title: 'The browser did not send the console’s cookie',
    detail: 'The console accepts a form only together with its cookie. Nothing was changed.',
    advice:
      'Allow cookies for this address in the browser, then open the form again. Safari accepts this cookie only over ' +
      'HTTPS: set up TLS, or use another browser.',
  },
  session_ended: {
    status: 401,
    title: 'You are signed out',
    detail: 'The session has ended.',
    advice: 'Sign in again.',
  },
  not_opened: {
    status: 403,
    title: 'Your session cannot open this page',
    detail: 'This page requires an operator, who signs in with a one-time code from strongroom console sign-in.',
    advice: 'Sign out, then sign in with what the page requires, in addition to the keys that you used.',
  },
  sign_in_expired: {
    status: 400,
    title: 'The sign-in has expired',
    detail:
      'The sign-in did not begin in this browser at this address, was already completed, or took longer than ten ' +
      'minutes.',
    advice: 'Open the console at its public address, and sign in again.',
  },
  sign_in_denied: {
    status: 403,
    title: 'Your identity provider did not sign you in',
    detail: 'The sign-in was canceled, or the identity provider does not allow you to use the console.',
    advice: 'Sign in again, or ask the administrator of the identity provider.',
  },
  sign_in_rejected: {
    status: 401,
    title: 'The sign-in was not accepted',
    detail: 'The response from the identity provider is not valid for this sign-in.',
    advice: 'Sign in again. If this happens again, look up the trace id in the log to find the reason.',
  },
  provider_unavailable: {
    status: 503,
    title: 'The identity provider is not responding',
    detail: 'The console could not reach the identity provider, or it did not respond as expected.',
    advice: 'Try again later, or sign in with keys. Look up the trace id in the log to find the reason.',
  },
  too_many_sign_ins: {
    status: 503,
    title: 'Too many people are signing in',
    detail: 'Too many sign-ins with the identity provider have begun and are not finished.',
    advice: 'Try again in ten minutes, or sign in with keys.',
  },
  no_group: {
    status: 403,
    title: 'Your groups do not give access to the console',
    detail:
      'Your identity provider signed you in, but none of your groups gives access to a live application or to ' +
      'operations.',
    advice:
      'Ask an operator to add one of your groups to console.oidc.groups, or to add you to a group that is listed ' +
      'there.',
  },
} as const;

export type ConsoleProblemCode = keyof typeof consoleProblems;

/**
 * What a person can do after a wait. The API's texts tell a client to read the header `Retry-After`, which a browser
 * does not show. `wait` is the time in words: `40 seconds`.
 */
const adviceAfterWait: Partial<Readonly<Record<ProblemCode, (wait: string) => string>>> = {
  rate_limited: (wait) =>
    `Wait ${wait}, then try again. Requests that programs send with the same application count too.`,
  too_many_bad_keys: (wait) => `Wait ${wait}, then try again with the right key or code.`,
  too_many_without_key: (wait) => `Wait ${wait}, then try again.`,
  guesses_exhausted: (wait) =>
    `Wait ${wait}. Until then, searches by data or fingerprint and new tokens with deduplication may be rejected. ` +
    'Everything else still works.',
  deduplication_misses_exhausted: (wait) =>
    `Wait ${wait}. Until then, choose “Create another” under “If an equal token exists” in the form for a new token.`,
  store_unavailable: (wait) => `Wait ${wait}, then try again. Before you repeat a change, check whether it was made.`,
  overloaded: (wait) => `Wait ${wait}, then try again.`,
};

/** Texts that people see in the console. They replace the texts that the API returns to its clients. */
const textsForPeople: Partial<
  Readonly<Record<ProblemCode, Partial<Pick<ShownProblem, 'title' | 'detail' | 'advice'>>>>
> = {
  not_found: {
    title: 'There is no such page',
    detail: 'The console has no page at this address.',
    advice: 'Check the address, or begin at the overview.',
  },
  token_not_found: {
    advice: 'Search for the token on the page “Tokens”. A deleted token cannot be brought back.',
  },
  application_not_found: { advice: 'Choose an application on the page “Applications”.' },
  application_key_not_found: { advice: 'The page of the application lists its keys.' },
  webhook_not_found: {
    title: 'No such webhook',
    detail: 'There is no such webhook, or it was deleted.',
    advice: 'Choose a webhook on the page “Webhooks”.',
  },
  validation_failed: {
    title: 'The request is not valid',
    detail: 'One or more fields are not valid.',
    advice: 'Correct these fields, and try again. Nothing was saved.',
  },
  body_too_large: {
    title: 'The form is too large',
    detail: 'The form is too large. A token takes at most 512 KiB. Nothing was saved.',
    advice: 'Go back to the form, and shorten what you typed.',
  },
};

/** An error that a request handler throws to respond with one of the console's problems. */
export class ConsoleProblem extends Error {
  readonly code: ConsoleProblemCode;
  /** The detail to show instead of the default detail for this kind of problem. */
  readonly detail: string | undefined;

  /** Creates the error. The service logs `cause`, but not the problem itself. */
  constructor(code: ConsoleProblemCode, { cause, detail }: { readonly cause?: Error; readonly detail?: string } = {}) {
    super(code, { cause });
    this.name = 'ConsoleProblem';
    this.code = code;
    this.detail = detail;
  }
}

/** A problem as a page shows it. */
export type ShownProblem = {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly advice: string;
  readonly errors: FieldErrors;
  /** After how many seconds the request can be retried, or null if time does not solve the problem. */
  readonly retryAfterSeconds: number | null;
};

/**
 * Converts any thrown error to a problem for a page. For an unexpected error, the problem contains no information about
 * the error.
 */
export function shownProblem(error: unknown): ShownProblem {
  const code = consoleCodeOf(error);
  if (code !== null) {
    const { detail = consoleProblems[code].detail } = error instanceof ConsoleProblem ? error : {};
    return {
      code,
      ...consoleProblems[code],
      detail,
      errors: {},
      retryAfterSeconds: retryAfterSeconds(consoleProblems[code].status),
    };
  }
  const problem = problemOf(error);
  const { status, title, detail, advice } = problemCatalogue[problem.code];
  const seconds = retryAfterSeconds(status, problem.retryAfterMs);
  const afterWait = seconds === null ? undefined : adviceAfterWait[problem.code];
  return {
    code: problem.code,
    status,
    title,
    advice,
    detail: problem.detail ?? detail,
    ...textsForPeople[problem.code],
    ...(seconds === null || afterWait === undefined ? {} : { advice: afterWait(waitText(seconds)) }),
    errors: problem.errors ?? {},
    retryAfterSeconds: seconds,
  };
}

function waitText(seconds: number): string {
  return seconds <= 120 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute');
}

function consoleCodeOf(error: unknown): ConsoleProblemCode | null {
  if (error instanceof ConsoleProblem) return error.code;
  const { code } = error as { readonly code?: unknown };
  if (code === 'FST_CSRF_MISSING_SECRET') return 'cookie_missing';
  return code === 'FST_CSRF_INVALID_TOKEN' ? 'form_expired' : null;
}
