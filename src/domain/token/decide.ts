import { cvcAt, isExpired, keysOf, type TokenLife, type TokenState } from './token-state.js';
import type { TokenType } from './types/token-type.js';

/**
 * A command on a token, from a caller or a timer. `at` is the time of the command in milliseconds since the epoch. The
 * command may destroy data that was due at `endsUpTo` or earlier. By default, `endsUpTo` equals `at`. It is earlier if
 * the clock is uncertain or untrusted. `codesEndUpTo` is the corresponding time for verification codes, which follow a
 * separate time scale (`Clock.codesAhead`).
 */
export type TokenCommand = { readonly at: number; readonly endsUpTo?: number; readonly codesEndUpTo?: number } & Wanted;

type Wanted =
  | {
      readonly kind: 'create';
      readonly tokenType: TokenType;
      readonly hasCvc: boolean;
      readonly cvcRetentionMs: number;
      readonly expiresAt: number | null;
    }
  | {
      readonly kind: 'update';
      /** The names of the changed top-level fields. Empty if nothing changes. */
      readonly changed: readonly string[];
      /**
       * True if data other than the cvc changes. In that case, the key of the previous data is destroyed unless
       * `keepSuperseded` is true.
       */
      readonly dataReplaced: boolean;
      /**
       * If true, the newest keys of replaced data are kept until the token is deleted or expires, so that earlier
       * states can be replayed.
       */
      readonly keepSuperseded: boolean;
      readonly cvc: 'kept' | 'set' | 'removed';
      readonly cvcRetentionMs: number;
      readonly expiresAt: number | null;
    }
  | { readonly kind: 'delete' }
  | { readonly kind: 'expire' }
  | { readonly kind: 'purge_cvc'; readonly reason: 'due' | 'request' };

/**
 * An event that has been decided, but has no new keys and no position in the log yet. `ends` lists the keys that the
 * event marks for destruction.
 */
export type TokenEvent =
  | {
      readonly type: 'token.created';
      readonly tokenType: TokenType;
      readonly hasCvc: boolean;
      readonly expiresAt: number | null;
      readonly cvcPurgeAt: number | null;
    }
  | {
      readonly type: 'token.updated';
      readonly changed: readonly string[];
      /** The key of the content. Null means that the content is encrypted under a new key. */
      readonly key: string | null;
      readonly cvc: 'kept' | 'set' | 'removed';
      readonly expiresAt: number | null;
      readonly cvcPurgeAt: number | null;
      /** The previous key of the content if that key stays in use. Null if `ends` contains that key. */
      readonly keeps: string | null;
      readonly ends: readonly string[];
    }
  | { readonly type: 'token.deleted'; readonly ends: readonly string[] }
  | { readonly type: 'token.expired'; readonly dueAt: number; readonly ends: readonly string[] }
  | {
      readonly type: 'token.property.expired';
      readonly reason: 'due' | 'request';
      readonly dueAt: number;
      /** The key of the content. The event keeps this key. */
      readonly keeps: string;
      readonly ends: readonly string[];
    };

export type Decided =
  | { readonly ok: true; readonly events: readonly TokenEvent[] }
  | { readonly ok: false; readonly code: 'token_not_found' | 'id_in_use' };

/**
 * Decides a command on a token (docs/contract.md, "States and transitions"). This function is pure: it uses no clock,
 * no I/O and no keys. Returns no events if the command changes nothing.
 */
export function decide(command: TokenCommand, state: TokenState): Decided {
  const { life } = state;
  const endsUpTo = command.endsUpTo ?? command.at;
  const living = life !== null && !isExpired(life, endsUpTo) ? life : null;
  switch (command.kind) {
    case 'create':
      if (living !== null) return { ok: false, code: 'id_in_use' };
      return events(...(life === null ? [] : [expired(life, command.at)]), created(command));
    case 'update':
      if (living === null) return { ok: false, code: 'token_not_found' };
      return command.changed.length === 0 ? events() : events(updated(living, command));
    case 'delete':
      return living === null
        ? { ok: false, code: 'token_not_found' }
        : events({ type: 'token.deleted', ends: keysOf(living) });
    case 'expire':
      return life === null || living !== null ? events() : events(expired(life, command.at));
    case 'purge_cvc':
      return life === null
        ? { ok: false, code: 'token_not_found' }
        : purged(life, codesEndUpTo(command), command.reason);
  }
}

function codesEndUpTo({ at, endsUpTo = at, codesEndUpTo: upTo = endsUpTo }: TokenCommand): number {
  return upTo;
}

function events(...decided: readonly TokenEvent[]): Decided {
  return { ok: true, events: decided };
}

function created(command: Extract<TokenCommand, { kind: 'create' }>): TokenEvent {
  return {
    type: 'token.created',
    tokenType: command.tokenType,
    hasCvc: command.hasCvc,
    expiresAt: command.expiresAt,
    cvcPurgeAt: command.hasCvc ? command.at + command.cvcRetentionMs : null,
  };
}

/**
 * The maximum number of keys of replaced data that a token keeps. The event that ends the token names all of them.
 * EventStoreDB accepts events of at most 1 MiB, so without a limit, the token could never be deleted.
 */
const supersededMax = 10_000;

function updated(life: TokenLife, command: Extract<TokenCommand, { kind: 'update' }>): TokenEvent {
  // If the stored cvc is already due, the update does not keep it, even if it has not been purged yet.
  const cvc =
    command.cvc === 'kept' && life.cvc !== null && cvcAt(life, codesEndUpTo(command)) === null
      ? 'removed'
      : command.cvc;
  const replaced = () =>
    command.keepSuperseded ? [...life.superseded, life.key].slice(0, -supersededMax) : [life.key];
  const ends = [
    ...(command.dataReplaced ? replaced() : []),
    ...(cvc !== 'kept' && life.cvc !== null ? [life.cvc.key] : []),
  ];
  return {
    type: 'token.updated',
    changed: command.changed,
    key: command.dataReplaced ? null : life.key,
    cvc,
    expiresAt: command.expiresAt,
    cvcPurgeAt: cvc === 'set' ? command.at + command.cvcRetentionMs : null,
    keeps: ends.includes(life.key) ? null : life.key,
    ends,
  };
}

function expired(life: TokenLife, at: number): TokenEvent {
  return { type: 'token.expired', dueAt: life.expiresAt ?? at, ends: keysOf(life) };
}

function purged(life: TokenLife, endsUpTo: number, reason: 'due' | 'request'): Decided {
  if (life.cvc === null || (reason === 'due' && endsUpTo < life.cvc.purgeAt)) return events();
  const { key, cvc } = life;
  return events({ type: 'token.property.expired', reason, dueAt: cvc.purgeAt, keeps: key, ends: [cvc.key] });
}
