import type { Caller } from '../domain/access/caller.js';
import type { Transform } from '../domain/access/transform.js';
import type { JsonObject } from '../domain/json.js';
import { Decrypted } from '../vault/decrypted.js';
import type { ReadToken } from './read-token.js';

/** A token in a response, and its transform. */
export type ShownToken = {
  readonly stream: string;
  readonly transform: Transform;
  /**
   * Whether this request read, created or updated the token. `create` and `update` mean that the request appended an
   * event of the token. The event records the access, so the access log does not record the token as read. There is one
   * exception. The response to an update can show more data than the request contained. If that response contains
   * plaintext, it is recorded as a reveal. An update that changes nothing appends no event, so it is a `read`.
   */
  readonly recordedAs: 'read' | 'create' | 'update';
};

/** A token that the caller may see. `release` renders it. */
export type TokenAnswer = ShownToken & {
  readonly id: string;
  /** The revision of the token, for the entity tag. */
  readonly revision: number;
  readonly decrypted: Decrypted<DecryptedAnswer>;
};

/** The decrypted token, and everything that `release` needs to render it. */
export type DecryptedAnswer = {
  readonly caller: Caller;
  readonly read: ReadToken;
  readonly shown: ShownToken;
  readonly options: AnswerOptions;
};

export type AnswerOptions = {
  /** Default: `read`. */
  readonly recordedAs?: ShownToken['recordedAs'];
  /** The members of the `_extras` field. */
  readonly extras?: JsonObject;
  /**
   * For a create or update: true if the request contained all values that the fingerprint is computed from. Absent for a
   * read, which shows the fingerprint if the tenant sets `show_fingerprints`.
   */
  readonly carriesFingerprint?: boolean;
  /**
   * The time from which the token is not shown, or null. For a past state of a token, this is the current expiry of the
   * token. Default: the expiry of the token.
   */
  readonly hiddenFrom?: number | null;
  /** The only fields that the response can contain. If absent, the response can contain all fields. */
  readonly fields?: readonly string[];
};

const noOptions: AnswerOptions = {};

/** Returns a token with a transform, in the form rendered by `release`. */
export function tokenAnswer(
  caller: Caller,
  read: ReadToken,
  transform: Transform,
  options: AnswerOptions = noOptions,
): TokenAnswer {
  const { stream, state } = read.view;
  const { recordedAs = 'read' } = options;
  const shown: ShownToken = { stream, transform, recordedAs };
  const decrypted = new Decrypted<DecryptedAnswer>({ caller, read, shown, options });
  return { stream, transform, recordedAs, id: read.open.id, revision: state.revision, decrypted };
}
