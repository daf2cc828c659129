import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, type TokenCommand, type TokenEvent } from '#src/domain/token/decide.js';
import { evolve } from '#src/domain/token/evolve.js';
import type { TokenEventHeader } from '#src/domain/token/token-event-header.js';
import { keysOf, noToken, type TokenState } from '#src/domain/token/token-state.js';

const retentionMs = 100;
const cvcRetentionMs = fc.constant(retentionMs);
const at = fc.constant(0);
/** The time in ms from the command to the token's expiry, or null for a token without an expiry. */
const expiresAt = fc.option(fc.integer({ min: 1, max: 300 }));
const command: fc.Arbitrary<TokenCommand> = fc.oneof(
  fc.record({
    kind: fc.constant('create'),
    at,
    tokenType: fc.constant('card'),
    hasCvc: fc.boolean(),
    cvcRetentionMs,
    expiresAt,
  }),
  fc.record({
    kind: fc.constant('update'),
    at,
    changed: fc.constantFrom([], ['data']),
    dataReplaced: fc.boolean(),
    keepSuperseded: fc.boolean(),
    cvc: fc.constantFrom('kept', 'set', 'removed'),
    cvcRetentionMs,
    expiresAt,
  }),
  fc.record({ kind: fc.constantFrom('delete', 'expire'), at }),
  fc.record({ kind: fc.constant('purge_cvc'), at, reason: fc.constantFrom('due', 'request') }),
) as fc.Arbitrary<TokenCommand>;

/**
 * If no event marks a key for destruction, erased data stays readable forever. If an event marks a key too early, live
 * data is lost.
 */
test('each key that an event names is either in the state, or exactly one event marked it for destruction', () => {
  const steps = fc.array(fc.record({ command, pauseMs: fc.integer({ min: 0, max: 120 }) }), { maxLength: 30 });
  fc.assert(
    fc.property(steps, (sequence) => {
      let now = 1_000;
      let state: TokenState = noToken;
      const named: string[] = [];
      const ended: string[] = [];
      for (const { command, pauseMs } of sequence) {
        now += pauseMs;
        const decided = decide(placed(command, now), state);
        for (const decision of decided.ok ? decided.events : []) {
          const fact = factOf(decision, named.length);
          named.push(...keysNamedBy(fact).filter((key) => !named.includes(key)));
          if ('ends' in fact.clear) ended.push(...fact.clear.ends);
          state = evolve(state, {
            ...fact,
            id: `event-${state.revision + 1}`,
            revision: state.revision + 1,
            position: 0,
            time: now,
            tenantId: 'tenant',
            actorId: 'app',
          });
          const living = state.life === null ? [] : keysOf(state.life);
          expect([...living, ...ended].sort()).toEqual([...named].sort());
          const { cvc } = state.life ?? {};
          if (cvc) expect(cvc.purgeAt, 'no edit extends a cvc').toBeLessThanOrEqual(now + retentionMs);
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

function placed(command: TokenCommand, now: number): TokenCommand {
  if (command.kind !== 'create' && command.kind !== 'update') return { ...command, at: now };
  return { ...command, at: now, expiresAt: command.expiresAt === null ? null : now + command.expiresAt };
}

/** Returns the event that results when the keys are added to a decision. */
function factOf(decision: TokenEvent, count: number): TokenEventHeader {
  switch (decision.type) {
    case 'token.created': {
      const { tokenType, hasCvc } = decision;
      const clear = { token_type: tokenType, key: `k${count}`, ...(hasCvc ? { cvc_key: `c${count}` } : {}) };
      return { type: decision.type, clear: { ...clear, ...times(decision) } };
    }
    case 'token.updated': {
      const { changed, cvc, ends } = decision;
      const key = decision.key ?? `k${count}`;
      const clear = { changed, key, cvc, ends, ...(cvc === 'set' ? { cvc_key: `c${count}` } : {}) };
      return { type: decision.type, clear: { ...clear, ...times(decision) } };
    }
    case 'token.deleted':
      return { type: decision.type, clear: { reason: 'request', ends: decision.ends } };
    case 'token.expired':
      return { type: decision.type, clear: { due_at: decision.dueAt, ends: decision.ends } };
    case 'token.property.expired': {
      const { reason, dueAt, ends } = decision;
      return { type: decision.type, clear: { property: 'cvc', reason, due_at: dueAt, ends } };
    }
  }
}

function times({ expiresAt, cvcPurgeAt }: { readonly expiresAt: number | null; readonly cvcPurgeAt: number | null }) {
  return {
    ...(expiresAt === null ? {} : { expires_at: expiresAt }),
    ...(cvcPurgeAt === null ? {} : { cvc_purge_at: cvcPurgeAt }),
  };
}

function keysNamedBy({ type, clear }: TokenEventHeader): readonly string[] {
  if (type !== 'token.created' && type !== 'token.updated') return [];
  return [clear.key, ...(clear.cvc_key === undefined ? [] : [clear.cvc_key])];
}
