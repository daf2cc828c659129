import type { TokenType } from './types/token-type.js';

/** The times when a token and its cvc are due for erasure, in milliseconds since the epoch. */
export type TokenTimes = { readonly expires_at?: number | undefined; readonly cvc_purge_at?: number | undefined };

/**
 * The plaintext part of each token event. It remains after erasure, so it contains only types, times, key ids and the
 * names of changed fields, and nothing that is derived from data. `ends` lists the keys that the event marks for
 * destruction. If `ends` does not contain the previous content key, `keeps` is that key, and the earlier state can
 * still be decrypted.
 */
export type TokenEventHeader =
  | {
      readonly type: 'token.created';
      readonly clear: TokenTimes & {
        readonly token_type: TokenType;
        readonly key: string;
        readonly cvc_key?: string | undefined;
      };
    }
  | {
      readonly type: 'token.updated';
      readonly clear: TokenTimes & {
        /** The names of the changed top-level fields. */
        readonly changed: readonly string[];
        readonly key: string;
        /** The change that the event makes to the cvc. `set` means that a new cvc is encrypted under `cvc_key`. */
        readonly cvc: 'kept' | 'set' | 'removed';
        readonly cvc_key?: string | undefined;
        readonly keeps?: string | undefined;
        readonly ends: readonly string[];
      };
    }
  | {
      readonly type: 'token.deleted';
      /**
       * `request`: a request deleted the token. `undone`: a request that creates several tokens failed halfway, so the
       * tokens that it had created, including this one, were deleted again.
       */
      readonly clear: { readonly reason: 'request' | 'undone'; readonly ends: readonly string[] };
    }
  | { readonly type: 'token.expired'; readonly clear: { readonly due_at: number; readonly ends: readonly string[] } }
  | {
      readonly type: 'token.property.expired';
      readonly clear: {
        readonly property: 'cvc';
        /** `due`: the cvc's retention period ended. `request`: a request purged the cvc. */
        readonly reason: 'due' | 'request';
        readonly due_at: number;
        readonly keeps?: string | undefined;
        readonly ends: readonly string[];
      };
    }
  /**
   * An event that changes nothing. It occupies the revision that an abandoned append would use for its event, so that
   * the append can never succeed later.
   */
  | { readonly type: 'token.fenced'; readonly clear: Readonly<Record<string, never>> };

export type TokenEventType = TokenEventHeader['type'];

/** An event with its place in the stream and the log, as input to `evolve`. */
export type RecordedFact = TokenEventHeader & {
  readonly id: string;
  readonly revision: number;
  readonly position: number;
  readonly time: number;
  readonly tenantId: string;
  readonly actorId: string;
};
