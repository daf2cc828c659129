import type { TokenType } from './types/token-type.js';

/** Times that a token runs by, milliseconds since the epoch. */
export type TokenTimes = { readonly expires_at?: number | undefined; readonly cvc_purge_at?: number | undefined };

/**
 * The clear part of each token event. Clear means: it stays for ever, also after erasure. So it names types, times,
 * keys and changed fields, and nothing that is derived from data. `ends` lists the keys that the event ends; `keeps` names
 * the key that the content lay under before and that lives on, so that what the token was still opens.
 */
export type TokenFact =
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
        /** Top-level names of the changed fields. */
        readonly changed: readonly string[];
        readonly key: string;
        /** What became of the cvc; `set` seals a new one under `cvc_key`. */
        readonly cvc: 'kept' | 'set' | 'removed';
        readonly cvc_key?: string | undefined;
        readonly keeps?: string | undefined;
        readonly ends: readonly string[];
      };
    }
  | {
      readonly type: 'token.deleted';
      /** Somebody asked for it, or the request that was to create several tokens failed half-way. */
      readonly clear: { readonly reason: 'request' | 'undone'; readonly ends: readonly string[] };
    }
  | { readonly type: 'token.expired'; readonly clear: { readonly due_at: number; readonly ends: readonly string[] } }
  | {
      readonly type: 'token.property.expired';
      readonly clear: {
        readonly property: 'cvc';
        /** Its hour was over, or somebody asked for it. */
        readonly reason: 'due' | 'request';
        readonly due_at: number;
        readonly keeps?: string | undefined;
        readonly ends: readonly string[];
      };
    }
  /** Changes nothing. It takes the place of an append that was given up, so that this can never come late. */
  | { readonly type: 'token.fenced'; readonly clear: Readonly<Record<string, never>> };

/** A fact with its place: what `evolve` folds. */
export type RecordedFact = TokenFact & {
  readonly id: string;
  readonly revision: number;
  readonly position: number;
  readonly time: number;
  readonly tenantId: string;
  readonly actorId: string;
};
