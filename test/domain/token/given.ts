import { expect } from 'vitest';
import { type Decided, decide, type TokenCommand, type TokenEvent } from '#src/domain/token/decide.js';
import { evolve } from '#src/domain/token/evolve.js';
import type { TokenEventHeader } from '#src/domain/token/token-event-header.js';
import { noToken, type TokenState } from '#src/domain/token/token-state.js';

/** The time of the first event in every history, in ms. */
export const startMs = 1_000_000;

/**
 * Returns the state after these events. The application `app` causes all of them. Each event is one second later than
 * the previous event.
 */
export function stateAfter(facts: readonly TokenEventHeader[]): TokenState {
  return facts.reduce(
    (state, fact, i) =>
      evolve(state, {
        ...fact,
        id: `event-${i}`,
        revision: i,
        position: i + 10,
        time: startMs + i * 1_000,
        tenantId: 'tenant',
        actorId: 'app',
      }),
    noToken,
  );
}

/** Begins a test of the form `given(facts).when(command).thenEvents(decisions)` or `….thenRefused(code)`. */
export function given(...facts: readonly TokenEventHeader[]) {
  return {
    when(command: TokenCommand) {
      const decided: Decided = decide(command, stateAfter(facts));
      return {
        thenEvents: (...events: readonly TokenEvent[]) => expect(decided).toEqual({ ok: true, events }),
        thenRefused: (code: string) => expect(decided).toEqual({ ok: false, code }),
      };
    },
  };
}

export const created: Extract<TokenEventHeader, { type: 'token.created' }> = {
  type: 'token.created',
  clear: { token_type: 'card', key: 'k1', cvc_key: 'c1', cvc_purge_at: startMs + 3_600_000 },
};
export const expiring: TokenEventHeader = {
  type: 'token.created',
  clear: { ...created.clear, expires_at: startMs + 60_000 },
};
export const deleted: TokenEventHeader = { type: 'token.deleted', clear: { reason: 'request', ends: ['k1', 'c1'] } };

export function updatedFact(
  clear: Partial<Extract<TokenEventHeader, { type: 'token.updated' }>['clear']>,
): TokenEventHeader {
  return { type: 'token.updated', clear: { changed: ['metadata'], key: 'k1', cvc: 'kept', ends: [], ...clear } };
}

export const create: Extract<TokenCommand, { kind: 'create' }> = {
  kind: 'create',
  at: startMs + 10_000,
  tokenType: 'token',
  hasCvc: false,
  cvcRetentionMs: 3_600_000,
  expiresAt: null,
};

export const update: Extract<TokenCommand, { kind: 'update' }> = {
  kind: 'update',
  at: startMs + 10_000,
  changed: ['metadata'],
  dataReplaced: false,
  keepSuperseded: false,
  cvc: 'kept',
  cvcRetentionMs: 3_600_000,
  expiresAt: null,
};
