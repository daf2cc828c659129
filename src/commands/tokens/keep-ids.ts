import { coversContainers } from '../../domain/tenancy/webhook.js';
import { endsToken } from '../../events/tokens/catalogue.js';
import { sealTokenId } from '../../events/webhooks/sealed-id.js';
import type { SealedTokenId } from '../../ports/webhook-store.js';
import { orNull } from '../../vault/for-tenants.js';
import { KeyLost } from '../../vault/key-lost.js';
import { tenantDocument } from '../../vault/open-directory.js';
import { openContent } from '../../vault/open-token.js';
import { TenantGone } from '../../vault/tenant-gone.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';
import type { Sealed } from '../seal-events.js';

type Ending = { readonly view: TokenView; readonly sealed: Sealed };

/**
 * Seals the ids of tokens that are about to be deleted or to expire, under the keys of the webhooks that will be
 * notified. The sealed ids are stored before the events are appended, because the ids cannot be decrypted afterwards.
 * If the append fails, the stored ids are removed within three days. If an id cannot be decrypted, the deletion or
 * expiry continues, and the delivery contains only the token's reference. If the ids cannot be stored, throws
 * StoreUnavailable before any event is appended. In that case, the command can be retried.
 */
export async function keepIdsOfEnding(
  vault: Pick<Vault, 'directory' | 'keys' | 'reportDamage' | 'webhookStore'>,
  endings: readonly Ending[],
): Promise<void> {
  const [first] = endings;
  if (first === undefined) return;
  const tenant = await unlessUnreadable(vault, tenantDocument(vault, first.view.tenantId));
  const webhooks = tenant?.webhooks ?? [];
  const ids: SealedTokenId[] = [];
  for (const ending of webhooks.length === 0 ? [] : endings) {
    ids.push(...((await unlessUnreadable(vault, sealedIdsOf(vault, webhooks, ending))) ?? []));
  }
  if (ids.length > 0) await vault.webhookStore.keepIds(ids);
}

/**
 * Returns the result of a read. Returns null if the tenant was deleted, or if its row or a key is damaged. Threat: an
 * attacker changes the row of one tenant, so that its tokens remain due, and the sweep does not get to the tokens of
 * other tenants.
 */
function unlessUnreadable<T>(vault: Pick<Vault, 'reportDamage'>, read: Promise<T>): Promise<T | null> {
  const unlessErased = read.catch((error: unknown) => {
    if (error instanceof KeyLost || error instanceof TenantGone) return null;
    throw error;
  });
  return orNull(vault, () => unlessErased);
}

type Webhooks = NonNullable<Awaited<ReturnType<typeof tenantDocument>>>['webhooks'];

async function sealedIdsOf(
  vault: Pick<Vault, 'directory' | 'keys'>,
  webhooks: Webhooks,
  { view, sealed: { events } }: Ending,
): Promise<readonly SealedTokenId[]> {
  const { tenantId, stream, state } = view;
  const { life } = state;
  const index = events.findIndex(({ type }) => endsToken(type));
  const event = events[index];
  if (life === null || event === undefined) return [];
  const told = webhooks.filter(
    ({ event_types: types, token_types: tokenTypes }) =>
      types.some((type) => type === event.type) && (tokenTypes === null || tokenTypes.includes(life.tokenType)),
  );
  const open = told.length === 0 ? null : await openContent(vault, view, life);
  if (open === null) return [];
  const place = { tenantId, stream, revision: state.revision + 1 + index };
  return told
    .filter((webhook) => coversContainers(webhook, open.containers))
    .map((webhook) => ({
      webhookId: webhook.id,
      eventId: event.id,
      sealed: sealTokenId(webhook, open.id, place),
      at: event.time,
    }));
}
