import { describe, it } from 'vitest';
import type { TokenEvent } from '#src/domain/token/decide.js';
import { create, created, deleted, expiring, given, startMs, update, updatedFact } from './given.js';

const at = startMs + 10_000;
const later = startMs + 60_000;
const hour = 3_600_000;
const updated: Extract<TokenEvent, { type: 'token.updated' }> = {
  type: 'token.updated',
  changed: ['metadata'],
  key: 'k1',
  cvc: 'kept',
  expiresAt: null,
  cvcPurgeAt: null,
  keeps: 'k1',
  ends: [],
};
const born: TokenEvent = {
  type: 'token.created',
  tokenType: 'token',
  hasCvc: false,
  expiresAt: null,
  cvcPurgeAt: null,
};

describe('create', () => {
  it('succeeds on a free id', () => {
    given().when(create).thenEvents(born);
    given(created, deleted).when(create).thenEvents(born);
  });

  it('starts the hour of a cvc at the time of the command', () => {
    given()
      .when({ ...create, tokenType: 'card', hasCvc: true, expiresAt: 5 })
      .thenEvents({ ...born, tokenType: 'card', hasCvc: true, expiresAt: 5, cvcPurgeAt: at + hour });
  });

  it('is rejected while another token has the id', () => {
    given(created).when(create).thenRefused('id_in_use');
    given(expiring)
      .when({ ...create, at: later - 1 })
      .thenRefused('id_in_use');
    given(created, deleted, created).when(create).thenRefused('id_in_use');
  });

  it('also records an expiry that was not recorded yet, so that no key is forgotten', () => {
    given(expiring)
      .when({ ...create, at: later })
      .thenEvents({ type: 'token.expired', dueAt: later, ends: ['k1', 'c1'] }, born);
  });
});

// Threat: a clock that is ahead makes data seem due. `endsUpTo` and `codesEndUpTo` are the earliest possible times.
describe('if the clock may be ahead, a command ends nothing that may not be due yet', () => {
  const purgeAt = startMs + hour;
  const purge = { kind: 'purge_cvc', reason: 'due', at: purgeAt } as const;
  const purged: TokenEvent = {
    type: 'token.property.expired',
    reason: 'due',
    dueAt: purgeAt,
    keeps: 'k1',
    ends: ['c1'],
  };

  it('neither a token whose id is used again, nor one whose expiry is recorded', () => {
    given(expiring)
      .when({ ...create, at: later, endsUpTo: later - 1 })
      .thenRefused('id_in_use');
    given(expiring)
      .when({ kind: 'expire', at: later, endsUpTo: later - 1 })
      .thenEvents();
  });

  it('nor the cvc of a token that is updated', () => {
    given(created)
      .when({ ...update, at: purgeAt, endsUpTo: purgeAt - 1 })
      .thenEvents(updated);
    given(created)
      .when({ ...update, at: purgeAt, endsUpTo: purgeAt, codesEndUpTo: purgeAt - 1 })
      .thenEvents(updated);
  });

  it('nor a cvc whose purge is recorded, even if the times for codes and for tokens differ', () => {
    given(created)
      .when({ ...purge, endsUpTo: purgeAt - 1 })
      .thenEvents();
    given(created)
      .when({ ...purge, endsUpTo: purgeAt, codesEndUpTo: purgeAt - 1 })
      .thenEvents();
    given(created)
      .when({ ...purge, endsUpTo: purgeAt - 1, codesEndUpTo: purgeAt })
      .thenEvents(purged);
  });
});

describe('update', () => {
  it('produces no event when nothing changes', () => {
    given(created)
      .when({ ...update, changed: [] })
      .thenEvents();
  });

  it('keeps the key if the data does not change', () => {
    given(created).when(update).thenEvents(updated);
  });

  it('marks the key of replaced data for destruction', () => {
    given(created)
      .when({ ...update, changed: ['data'], dataReplaced: true })
      .thenEvents({ ...updated, changed: ['data'], key: null, keeps: null, ends: ['k1'] });
  });

  it('keeps the key of replaced data if the tenant keeps superseded data', () => {
    given(created)
      .when({ ...update, changed: ['data'], dataReplaced: true, keepSuperseded: true })
      .thenEvents({ ...updated, changed: ['data'], key: null });
  });

  it('keeps at most 10,000 keys of replaced data, so that the event that deletes the token never becomes too large', () => {
    const replace = { ...update, changed: ['data'], dataReplaced: true, keepSuperseded: true } as const;
    const replaced = { ...updated, changed: ['data'], key: null };
    const history = [created, ...Array.from({ length: 9_999 }, (_, number) => updatedFact({ key: `k${number + 2}` }))];
    given(...history)
      .when(replace)
      .thenEvents({ ...replaced, keeps: 'k10000' });
    given(...history, updatedFact({ key: 'k10001' }))
      .when(replace)
      .thenEvents({ ...replaced, keeps: 'k10001', ends: ['k1'] });
  });

  it('marks the key of a removed or replaced cvc for destruction', () => {
    given(created)
      .when({ ...update, changed: ['data'], cvc: 'removed' })
      .thenEvents({ ...updated, changed: ['data'], cvc: 'removed', ends: ['c1'] });
    given(created)
      .when({ ...update, changed: ['data'], cvc: 'set' })
      .thenEvents({ ...updated, changed: ['data'], cvc: 'set', cvcPurgeAt: at + hour, ends: ['c1'] });
  });

  it('drops a cvc whose hour is over, even if the cvc has not been purged yet', () => {
    given(created)
      .when({ ...update, at: startMs + hour })
      .thenEvents({ ...updated, cvc: 'removed', ends: ['c1'] });
    given(created)
      .when({ ...update, at: startMs + hour - 1 })
      .thenEvents(updated);
  });

  it('is rejected if the token does not exist', () => {
    given().when(update).thenRefused('token_not_found');
    given(created, deleted).when(update).thenRefused('token_not_found');
    given(expiring)
      .when({ ...update, at: later })
      .thenRefused('token_not_found');
  });
});

describe('delete', () => {
  it('marks every remaining key for destruction', () => {
    given(created)
      .when({ kind: 'delete', at })
      .thenEvents({ type: 'token.deleted', ends: ['k1', 'c1'] });
    given(created, updatedFact({ key: 'k2', cvc: 'removed', ends: ['c1'] }))
      .when({ kind: 'delete', at })
      .thenEvents({ type: 'token.deleted', ends: ['k2', 'k1'] });
    given(created, updatedFact({ key: 'k2', cvc: 'set', cvc_key: 'c2', cvc_purge_at: 9e9, ends: ['k1', 'c1'] }))
      .when({ kind: 'delete', at })
      .thenEvents({ type: 'token.deleted', ends: ['k2', 'c2'] });
  });

  it('is rejected if the token does not exist', () => {
    given().when({ kind: 'delete', at }).thenRefused('token_not_found');
    given(created, deleted).when({ kind: 'delete', at }).thenRefused('token_not_found');
    given(expiring).when({ kind: 'delete', at: later }).thenRefused('token_not_found');
  });
});

describe('expire', () => {
  it('records the time at which the token was due, however late the event is recorded', () => {
    given(expiring)
      .when({ kind: 'expire', at: later + 5_000 })
      .thenEvents({ type: 'token.expired', dueAt: later, ends: ['k1', 'c1'] });
  });

  it('produces no event before the due time, for a token without an expiry, or for a second time', () => {
    given(expiring)
      .when({ kind: 'expire', at: later - 1 })
      .thenEvents();
    given(created).when({ kind: 'expire', at: 9e12 }).thenEvents();
    given(expiring, updatedFact({})).when({ kind: 'expire', at: later }).thenEvents();
    given(expiring, deleted).when({ kind: 'expire', at: later }).thenEvents();
    given().when({ kind: 'expire', at }).thenEvents();
  });
});

describe('purge_cvc', () => {
  const purged = { type: 'token.property.expired', dueAt: startMs + hour, keeps: 'k1', ends: ['c1'] } as const;

  it('is done when the hour of the cvc is over, or immediately on request', () => {
    given(created)
      .when({ kind: 'purge_cvc', at: startMs + hour, reason: 'due' })
      .thenEvents({ ...purged, reason: 'due' });
    given(created)
      .when({ kind: 'purge_cvc', at, reason: 'request' })
      .thenEvents({ ...purged, reason: 'request' });
  });

  it('produces no event before the hour is over, or if there is no cvc', () => {
    given(created)
      .when({ kind: 'purge_cvc', at: startMs + hour - 1, reason: 'due' })
      .thenEvents();
    given(created, {
      type: 'token.property.expired',
      clear: { property: 'cvc', reason: 'due', due_at: 1, ends: ['c1'] },
    })
      .when({ kind: 'purge_cvc', at, reason: 'request' })
      .thenEvents();
  });

  it('is rejected if there is no token', () => {
    given(created, deleted).when({ kind: 'purge_cvc', at, reason: 'request' }).thenRefused('token_not_found');
  });
});
