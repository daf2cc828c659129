import type { JsonObject } from '../domain/json.js';
import type { TokenContent } from '../domain/token/content.js';
import type { TokenEvent } from '../domain/token/decide.js';
import type { TokenEventHeader, TokenTimes } from '../domain/token/token-event-header.js';
import { type NewEvent, noSealedParts, type SealedParts } from '../events/event.js';
import { sealJson } from '../events/sealing/json-ciphertext.js';
import { tokenEventVersion } from '../events/tokens/catalogue.js';
import type { DataKey, TenantKeys } from '../keys/key-ring.js';
import type { Decrypted } from '../vault/decrypted.js';
import { keyNotThere } from '../vault/tenant-gone.js';
import type { TenantKeysDeps } from '../vault/tenant-keys.js';
import { unwrap } from '../vault/unwrap.js';
import type { Vault } from '../vault/vault.js';
import { applyFact, type TokenView } from '../views/token-view.js';
import { type EventOrigin, sealOrigin } from './event-origin.js';

/**
 * The keys and random ids for the events. The directory shows whether a key is missing because its tenant was deleted.
 */
type SealDeps = TenantKeysDeps & Pick<Vault, 'random'>;

/**
 * The plaintext to seal for the decided events: the content after the events, and the new cvc if the events set one.
 */
export type Payload = { readonly content: Decrypted<TokenContent> | null; readonly cvc: Decrypted<string> | null };

export type Sealed = { readonly events: readonly NewEvent[]; readonly view: TokenView };

/**
 * Creates the keys for the decided events, and encrypts the events. The first event gets the revision after the view's
 * revision. Once the promise resolves, the keys are durable. If `tenantKeys` is null, the events contain no trace.
 * Returns the events and the resulting view.
 */
export async function sealEvents(
  vault: SealDeps,
  tenantKeys: TenantKeys | null,
  view: TokenView,
  decisions: readonly TokenEvent[],
  payload: Payload,
  origin: EventOrigin,
): Promise<Sealed> {
  const events: NewEvent[] = [];
  let next = view;
  for (const decision of decisions) {
    const { stream, tenantId } = view;
    const revision = next.state.revision + 1;
    const place = { tenantId, stream, revision };
    const { header, sealed } = await sealDecision(vault, place, decision, payload);
    const id = vault.random.uuid();
    events.push({
      id,
      type: header.type,
      version: tokenEventVersion,
      tenantId,
      actorId: origin.actorId,
      time: origin.at,
      cmd: origin.cmd,
      ...(tenantKeys === null ? { trace: null, source: origin.source } : sealOrigin(tenantKeys, origin, place)),
      // The header omits absent fields instead of setting them to undefined, so it is a JSON object.
      clear: header.clear as JsonObject,
      sealed,
    });
    const fact = { id, revision, position: 0, time: origin.at, tenantId, actorId: origin.actorId, ...header };
    next = applyFact(next, fact, sealed);
  }
  return { events, view: next };
}

type Place = { readonly tenantId: string; readonly stream: string; readonly revision: number };

async function sealDecision(
  vault: SealDeps,
  place: Place,
  decision: TokenEvent,
  payload: Payload,
): Promise<{ readonly header: TokenEventHeader; readonly sealed: SealedParts }> {
  const { type } = decision;
  switch (type) {
    case 'token.created': {
      const { expiresAt, cvcPurgeAt } = decision;
      const content = await sealContent(vault, place, null, payload.content);
      const cvc = decision.hasCvc ? await sealCvc(vault, place, payload.cvc) : noCvc;
      const clear = {
        token_type: decision.tokenType,
        key: content.keyId,
        ...cvc.clear,
        ...times(expiresAt, cvcPurgeAt),
      };
      return { header: { type, clear }, sealed: { content: content.ciphertext, cvc: cvc.ciphertext } };
    }
    case 'token.updated': {
      const { changed, expiresAt, cvcPurgeAt, keeps, ends } = decision;
      const content = await sealContent(vault, place, decision.key, payload.content);
      const cvc = decision.cvc === 'set' ? await sealCvc(vault, place, payload.cvc) : noCvc;
      const clear = {
        changed,
        key: content.keyId,
        cvc: decision.cvc,
        ends,
        ...cvc.clear,
        ...times(expiresAt, cvcPurgeAt),
        ...(keeps === null ? {} : { keeps }),
      };
      return { header: { type, clear }, sealed: { content: content.ciphertext, cvc: cvc.ciphertext } };
    }
    case 'token.deleted':
      return { header: { type, clear: { reason: 'request', ends: decision.ends } }, sealed: noSealedParts };
    case 'token.expired':
      return { header: { type, clear: { due_at: decision.dueAt, ends: decision.ends } }, sealed: noSealedParts };
    case 'token.property.expired': {
      const { reason, dueAt, keeps, ends } = decision;
      return {
        header: { type, clear: { property: 'cvc', reason, due_at: dueAt, keeps, ends } },
        sealed: noSealedParts,
      };
    }
  }
}

const noCvc = { clear: {}, ciphertext: null };

function times(expiresAt: number | null, cvcPurgeAt: number | null): TokenTimes {
  return {
    ...(expiresAt === null ? {} : { expires_at: expiresAt }),
    ...(cvcPurgeAt === null ? {} : { cvc_purge_at: cvcPurgeAt }),
  };
}

async function sealCvc(vault: SealDeps, place: Place, cvc: Decrypted<string> | null) {
  if (cvc === null) throw new Error('an event with a cvc must come with the cvc to seal');
  const { id, key } = await vault.keys.create(place.tenantId);
  return { clear: { cvc_key: id }, ciphertext: sealAndZero({ id, key }, place, 'cvc', unwrap(cvc)) };
}

/** Encrypts the content under the key `keyId`, or under a new key if `keyId` is null. */
async function sealContent(
  vault: SealDeps,
  place: Place,
  keyId: string | null,
  content: Decrypted<TokenContent> | null,
) {
  if (content === null) throw new Error('an event with content must come with the content to seal');
  if (keyId === null) {
    const key = await vault.keys.create(place.tenantId);
    return { keyId: key.id, ciphertext: sealAndZero(key, place, 'content', unwrap(content)) };
  }
  const used = await vault.keys.use(place.tenantId, keyId, (key) =>
    sealJson(key, unwrap(content), { keyId, field: 'content', ...place }),
  );
  if (used.state === 'open') return { keyId, ciphertext: used.value };
  const what = used.state === 'missing' ? 'key_missing' : 'key_destroyed_without_event';
  throw await keyNotThere(vault, place.tenantId, place.stream, what);
}

function sealAndZero({ id, key }: DataKey, place: Place, field: 'content' | 'cvc', value: unknown): Buffer {
  const ciphertext = sealJson(key, value, { keyId: id, field, ...place });
  key.fill(0);
  return ciphertext;
}
