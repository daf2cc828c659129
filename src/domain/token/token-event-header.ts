import type { TokenType } from './types/token-type.js';

/** The due times of a token, in milliseconds since the epoch. */
export type TokenTimes = { readonly expires_at?: number | undefined; readonly cvc_purge_at?: number | undefined };

/**
 * The plaintext part of each token event. It remains after erasure, so it contains only types, times, key ids and the
 * names of changed fields, and nothing derived from data. `ends` lists the keys that the event ends. `keeps` is the
 * previous content key if the event does not end that key, so that the earlier state can still be decrypted.
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
        /** What the event does to the cvc. `set` encrypts a new one under `cvc_key`. */
        readonly cvc: 'kept' | 'set' | 'removed';
        readonly cvc_key?: string | undefined;
        readonly keeps?: string | undefined;
        readonly ends: readonly string[];
      };
    }
  | {
      readonly type: 'token.deleted';
      /**
       * `request`: a request deleted the token. `undone`: the request that created this and other tokens failed
       * halfway.
       */
      readonly clear: { readonly reason: 'request' | 'undone'; readonly ends: readonly string[] };
    }
  | { readonly type: 'token.expired'; readonly clear: { readonly due_at: number; readonly ends: readonly string[] } }
  | {
      readonly type: 'token.property.expired';
      readonly clear: {
        readonly property: 'cvc';
        /** `due`: the cvc's hour was over. `request`: a request purged the cvc. */
        readonly reason: 'due' | 'request';
        readonly due_at: number;
        readonly keeps?: string | undefined;
        readonly ends: readonly string[];
      };
    }
  /** Changes nothing. It takes the revision of an abandoned append, so that the append can never succeed later. */
  | { readonly type: 'token.fenced'; readonly clear: Readonly<Record<string, never>> };

/** A fact with its place in the stream, as input to `evolve`. */
export type RecordedFact = TokenEventHeader & {
  readonly id: string;
  readonly revision: number;
  readonly position: number;
  readonly time: number;
  readonly tenantId: string;
  readonly actorId: string;
};
