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
   * What this request did to the token. An event already records a creation or update, so the token is not recorded as
   * read as well. There is one exception: the response to an update may show more data than the request contained, so
   * plaintext in that response is recorded as a reveal.
   */
  readonly recordedAs: 'read' | 'create' | 'update';
};

/** A token that the caller may see, before `release` renders it. */
export type TokenAnswer = ShownToken & {
  readonly id: string;
  /** The revision for the entity tag. */
  readonly revision: number;
  readonly decrypted: Decrypted<DecryptedAnswer>;
};

/** The decrypted token, with everything that `release` needs in order to render it. */
export type DecryptedAnswer = {
  readonly caller: Caller;
  readonly read: ReadToken;
  readonly shown: ShownToken;
  readonly options: AnswerOptions;
};

export type AnswerOptions = {
  readonly recordedAs?: 'create' | 'update';
  /** The members of `_extras`. */
  readonly extras?: JsonObject;
  /** True if the request contained every value from which the fingerprint is computed. */
  readonly carriesFingerprint?: boolean;
  /** The only fields that the response may contain. If this is absent, the response may contain all fields. */
  readonly fields?: readonly string[];
};

const noOptions: AnswerOptions = {};

/** Returns a token in the form that `release` renders, under the given transform. */
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
