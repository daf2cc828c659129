import { describe, expect, it } from 'vitest';
import { cvcAt, isExpired, keysOf } from '#src/domain/token/token-state.js';
import { created, deleted, expiring, startMs, stateAfter, updatedFact } from './given.js';

describe('a token’s life', () => {
  it('begins with its creation', () => {
    expect(stateAfter([created])).toEqual({
      revision: 0,
      life: {
        tenantId: 'tenant',
        tokenType: 'card',
        createdRevision: 0,
        createdPosition: 10,
        createdAt: startMs,
        createdBy: 'app',
        modifiedAt: null,
        modifiedBy: null,
        expiresAt: null,
        key: 'k1',
        contentRevision: 0,
        superseded: [],
        cvc: { key: 'c1', revision: 0, purgeAt: startMs + 3_600_000 },
      },
      ended: [],
    });
  });

  it('gets its key, expiry and cvc from an update, and records who made the update', () => {
    const state = stateAfter([expiring, updatedFact({ key: 'k2', ends: ['k1'] })]);
    expect(state.life).toMatchObject({
      key: 'k2',
      contentRevision: 1,
      expiresAt: null,
      modifiedAt: startMs + 1_000,
      modifiedBy: 'app',
      cvc: { key: 'c1', revision: 0, purgeAt: startMs + 3_600_000 },
    });
    expect(state.ended).toEqual([{ keyId: 'k1', eventId: 'event-1' }]);
  });

  it('loses its cvc in a purge, and a purge does not count as a modification', () => {
    const clear = { property: 'cvc', reason: 'due', due_at: 1, ends: ['c1'] } as const;
    const { life } = stateAfter([created, { type: 'token.property.expired', clear }]);
    expect(life).toMatchObject({ cvc: null, modifiedAt: null, key: 'k1', contentRevision: 0 });
  });

  it.each([
    ['deletion', deleted],
    ['expiry', { type: 'token.expired', clear: { due_at: 1, ends: ['k1', 'c1'] } } as const],
  ])('ends with its %s, and this event names the keys to destroy', (_, end) => {
    expect(stateAfter([created, end])).toEqual({
      revision: 1,
      life: null,
      ended: [
        { keyId: 'k1', eventId: 'event-1' },
        { keyId: 'c1', eventId: 'event-1' },
      ],
    });
  });

  it('is followed by the next life, which still knows the keys to destroy, because they may not be destroyed yet', () => {
    const next = { type: 'token.created', clear: { token_type: 'token', key: 'k9' } } as const;
    const { life, ended, revision } = stateAfter([created, deleted, next]);
    expect(life).toMatchObject({ tokenType: 'token', createdRevision: 2, key: 'k9', cvc: null, superseded: [] });
    expect({ ended: ended.map(({ keyId }) => keyId), revision }).toEqual({ ended: ['k1', 'c1'], revision: 2 });
  });

  it('keeps the keys of superseded data until the life ends', () => {
    const { life } = stateAfter([
      created,
      updatedFact({ key: 'k2' }),
      updatedFact({ key: 'k3' }),
      updatedFact({ key: 'k3' }),
    ]);
    expect(life?.superseded).toEqual(['k1', 'k2']);
    expect(life === null ? [] : keysOf(life)).toEqual(['k3', 'k1', 'k2', 'c1']);
  });

  it('no longer keeps a key of superseded data that an update marked for destruction', () => {
    const { life, ended } = stateAfter([created, updatedFact({ key: 'k2' }), updatedFact({ key: 'k3', ends: ['k1'] })]);
    expect(life?.superseded).toEqual(['k2']);
    expect(ended).toEqual([{ keyId: 'k1', eventId: 'event-2' }]);
  });
});

describe('the exact times', () => {
  it('of expiry and purge already count as past', () => {
    const { life } = stateAfter([expiring]);
    if (life === null) throw new Error('it lives');
    expect([isExpired(life, startMs + 59_999), isExpired(life, startMs + 60_000)]).toEqual([false, true]);
    expect([cvcAt(life, startMs + 3_599_999)?.key, cvcAt(life, startMs + 3_600_000)]).toEqual(['c1', null]);
  });
});
