import type { RecordedFact } from './token-event-header.js';
import type { CvcState, EndedKeyState, TokenLife, TokenState } from './token-state.js';

/** Returns a stream's state with one more recorded event applied. This function is pure. */
export function evolve(state: TokenState, fact: RecordedFact): TokenState {
  return {
    revision: fact.revision,
    life: lifeAfter(state.life, fact),
    ended: [...state.ended, ...endedBy(fact)],
  };
}

/** Returns a token's life with one more recorded event applied. Null if no token exists after the event. */
export function lifeAfter(life: TokenLife | null, fact: RecordedFact): TokenLife | null {
  if (fact.type === 'token.fenced') return life;
  if (fact.type === 'token.created') return born(fact);
  if (fact.type === 'token.deleted' || fact.type === 'token.expired' || life === null) return null;
  return fact.type === 'token.property.expired' ? { ...life, cvc: null } : updated(life, fact);
}

/** Returns the keys that an event ends. */
export function endedBy(fact: RecordedFact): readonly EndedKeyState[] {
  if (fact.type === 'token.created' || fact.type === 'token.fenced') return [];
  return fact.clear.ends.map((keyId) => ({ keyId, eventId: fact.id }));
}

type Fact<T extends RecordedFact['type']> = Extract<RecordedFact, { type: T }>;

function born(fact: Fact<'token.created'>): TokenLife {
  const { clear } = fact;
  return {
    tenantId: fact.tenantId,
    tokenType: clear.token_type,
    createdRevision: fact.revision,
    createdPosition: fact.position,
    createdAt: fact.time,
    createdBy: fact.actorId,
    modifiedAt: null,
    modifiedBy: null,
    expiresAt: clear.expires_at ?? null,
    key: clear.key,
    contentRevision: fact.revision,
    superseded: [],
    cvc: newCvc(fact),
  };
}

function updated(life: TokenLife, fact: Fact<'token.updated'>): TokenLife {
  const { key, ends } = fact.clear;
  const kept = key !== life.key && !ends.includes(life.key);
  // The keys of the oldest data end first. Comparing all 10,000 keys with each event would take seconds per load.
  const oldest = life.superseded.findIndex((each) => !ends.includes(each));
  const left = oldest < 0 ? [] : life.superseded.slice(oldest);
  return {
    ...life,
    modifiedAt: fact.time,
    modifiedBy: fact.actorId,
    expiresAt: fact.clear.expires_at ?? null,
    key,
    contentRevision: fact.revision,
    superseded: kept ? [...left, life.key] : left,
    cvc: fact.clear.cvc === 'kept' ? life.cvc : newCvc(fact),
  };
}

function newCvc(fact: Fact<'token.created' | 'token.updated'>): CvcState | null {
  const { cvc_key: key, cvc_purge_at: purgeAt } = fact.clear;
  return key === undefined || purgeAt === undefined ? null : { key, revision: fact.revision, purgeAt };
}
