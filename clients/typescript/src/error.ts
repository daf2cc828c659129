import { problemCodes } from './generated/operations.js';

/** The codes of the problems that the service returns (RFC 9457, `code`). */
export type ProblemCode = (typeof problemCodes)[number];

/**
 * What went wrong without a problem document from the service: the client was called with invalid arguments, the caller
 * aborted the request, no response arrived (in time), the response did not come from Strongroom, or the entity tag in
 * `If-None-Match` is still current.
 */
export type ClientErrorCode =
  | 'invalid_argument'
  | 'aborted'
  | 'timeout'
  | 'connection_failed'
  | 'unexpected_response'
  | 'not_modified';

type Details = {
  readonly status?: number;
  readonly title?: string;
  /** Messages by the JSON path of each invalid field. */
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  readonly traceId?: string;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
};

/** The only error of this client. `code` is stable; the message is for people. Neither contains the API key. */
export class StrongroomError extends Error {
  override readonly name = 'StrongroomError';
  /** A newer service may return codes that this version does not know. */
  readonly code: ProblemCode | ClientErrorCode | (string & Record<never, never>);
  /** The HTTP status, or undefined if there was no response. */
  readonly status: number | undefined;
  readonly title: string | undefined;
  readonly errors: Readonly<Record<string, readonly string[]>>;
  readonly traceId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: StrongroomError['code'], message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.title = details.title;
    this.errors = details.errors ?? {};
    this.traceId = details.traceId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

export function isProblemCode(code: string): code is ProblemCode {
  return problemCodes.some((known) => known === code);
}
