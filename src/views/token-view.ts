import { evolve } from '../domain/token/evolve.js';
import type { RecordedFact } from '../domain/token/token-event-header.js';
import { noToken, type TokenState } from '../domain/token/token-state.js';
import type { RecordedEvent, SealedParts } from '../events/event.js';
import { readTokenEvent } from '../events/tokens/catalogue.js';

/**
 * The result of folding one token's stream. This view becomes the token's row, and consists of the token's state and
 * the unchanged ciphertexts that are still in use. Folding needs no key, so a rebuild decrypts nothing.
 */
export type TokenView = {
  readonly stream: string;
  readonly tenantId: string;
  readonly state: TokenState;
  /** The ciphertext of the event at `state.life.contentRevision`. */
  readonly content: Uint8Array | null;
  /** The ciphertext of the event at `state.life.cvc.revision`. */
  readonly cvc: Uint8Array | null;
};

/** Returns the view before the first event of a stream. */
export function emptyView(stream: string, tenantId: string): TokenView {
  return { stream, tenantId, state: noToken, content: null, cvc: null };
}

/** Returns the view with one more event applied. This function is pure. The event must belong to the view's stream. */
export function applyToView(view: TokenView, event: RecordedEvent): TokenView {
  return applyFact(view, readTokenEvent(event), event.sealed);
}

/** Like `applyToView`, but for an event that was just decided and therefore needs no validation. */
export function applyFact(view: TokenView, fact: RecordedFact, sealed: SealedParts): TokenView {
  const state = evolve(view.state, fact);
  const { life } = state;
  return {
    stream: view.stream,
    tenantId: view.tenantId,
    state,
    content: life === null ? null : (sealed.content ?? view.content),
    cvc: life?.cvc == null ? null : (sealed.cvc ?? view.cvc),
  };
}
