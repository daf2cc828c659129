import { maySeeClear, readsEveryToken, transformFor } from '../domain/access/decide-access.js';
import { strictest } from '../domain/access/transform.js';
import type { JsonObject } from '../domain/json.js';
import { formatTimestamp } from '../domain/time.js';
import { isExpired, type TokenLife } from '../domain/token/token-state.js';
import { refOfTokenStream } from '../events/access-log/entity-ref.js';
import { latestNow } from '../ports/clock.js';
import { KeyLost } from '../vault/key-lost.js';
import { isBehindLog, loadToken, loadTokenBefore } from '../vault/load-token.js';
import { type OpenToken, type OpenTokenDeps, openContent } from '../vault/open-token.js';
import type { RequestContext } from '../vault/request-context.js';
import type { Vault } from '../vault/vault.js';
import type { TokenView } from '../views/token-view.js';
import { type AsOf, hadHappened } from './as-of.js';
import { type TokenAnswer, tokenAnswer } from './token-answer.js';

/** A token as it was at a past moment. */
export type Replayed =
  /** No token existed at that moment, or the caller is not allowed to find out whether one existed. */
  | { readonly kind: 'none' }
  | { readonly kind: 'forbidden' }
  /** The token has changed since that moment, and the caller may not see it in plaintext. */
  | { readonly kind: 'withheld' }
  /** The content was erased after that moment. `body` contains what is left of the token. */
  | { readonly kind: 'erased'; readonly body: JsonObject }
  | { readonly kind: 'token'; readonly answer: TokenAnswer; readonly open: OpenToken; readonly life: TokenLife };

export type ReplayAsk = {
  readonly asOf: AsOf;
  /** If false, a caller that may see plaintext gets the mask instead. */
  readonly reveal: boolean;
};

/**
 * Folds a token's events up to a moment, and decrypts the content at that moment. The fold ends at the first event
 * after the moment, even if the recorded times of later events are earlier. If `createdRevision` is set, returns `none`
 * unless the life at that moment began at this revision. Never returns a cvc. If the token was deleted or has expired
 * after that moment, never returns its content, even if its keys have not been destroyed yet. The caller gets the
 * transform for the token's containers at that moment or for its current containers, whichever is stricter.
 *
 * Returns `withheld` if the token was updated after that moment, unless the caller may see its plaintext in both sets
 * of containers. Threat: an owner tightens the mask or removes metadata, and a caller that sees only masked data reads
 * what was hidden by choosing an earlier moment. Throws KeyLost.
 */
export async function replayToken(
  vault: OpenTokenDeps & Pick<Vault, 'log'>,
  { caller }: Pick<RequestContext, 'caller'>,
  stream: string,
  { asOf, reveal }: ReplayAsk,
  createdRevision: number | null = null,
): Promise<Replayed> {
  const { tenantId } = caller;
  const then = await loadTokenBefore(vault, tenantId, stream, (event) => !hadHappened(asOf, event));
  const { life } = then.state;
  const now = await loadToken(vault, tenantId, stream);
  const present = isLive(now.state.life, latestNow(vault.clock)) ? now.state.life : null;
  const isOther = createdRevision !== null && life?.createdRevision !== createdRevision;
  if (!isLive(life, asOf.time) || isOther) {
    // Threat: a caller that may not read the token finds out when it was created, by trying moments.
    const open = present === null ? null : await openContent(vault, now, present);
    const isHidden = open !== null && transformFor(caller, 'token:read', open.containers) === null;
    return { kind: isHidden ? 'forbidden' : 'none' };
  }
  const lives = present?.createdRevision === life.createdRevision ? present : null;
  const open = lives === null ? null : await openContent(vault, then, life);
  const presentOpen = lives === null || open === null ? null : await openContent(vault, now, lives);
  if (open === null || presentOpen === null) {
    if (lives !== null && !hasEnded(now, lives, life)) {
      // The token may have been changed or deleted between the read of its events and the read of its keys.
      if (await isBehindLog(vault, now))
        return replayToken(vault, { caller }, stream, { asOf, reveal }, createdRevision);
      throw new KeyLost(stream, 'key_destroyed_without_event');
    }
    return readsEveryToken(caller) ? { kind: 'erased', body: whatIsLeft(stream, life) } : { kind: 'none' };
  }
  const transform = strictest(
    transformFor(caller, 'token:read', open.containers),
    transformFor(caller, 'token:read', presentOpen.containers),
  );
  if (transform === null) return { kind: 'forbidden' };
  const isUnchanged = lives?.contentRevision === life.contentRevision;
  const seesClear = [open, presentOpen].every(({ containers }) => maySeeClear(caller, containers));
  if (!isUnchanged && !seesClear) return { kind: 'withheld' };
  const shown = transform === 'reveal' && !reveal ? 'mask' : transform;
  const answer = tokenAnswer(caller, { view: then, life, open }, shown, { hiddenFrom: lives?.expiresAt ?? null });
  return { kind: 'token', answer, open, life };
}

function isLive(life: TokenLife | null, now: number): life is TokenLife {
  return life !== null && !isExpired(life, now);
}

/** Returns true if an event has ended the key of the earlier state. */
function hasEnded({ state }: TokenView, present: TokenLife, then: TokenLife): boolean {
  return present.key !== then.key && state.ended.some(({ keyId }) => keyId === then.key);
}

function whatIsLeft(stream: string, { tokenType, createdAt, createdBy, modifiedAt, expiresAt }: TokenLife): JsonObject {
  return {
    erased: true,
    entity_ref: refOfTokenStream(stream),
    type: tokenType,
    created_by: createdBy,
    created_at: formatTimestamp(createdAt),
    ...(modifiedAt === null ? {} : { modified_at: formatTimestamp(modifiedAt) }),
    ...(expiresAt === null ? {} : { expires_at: formatTimestamp(expiresAt) }),
  };
}
