import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { type WebhookAttempt, type WebhookState, withAttempts } from '../../ports/webhook-store.js';
import type { Vault } from '../../vault/vault.js';

const triesMax = 20;

/**
 * Replaces a webhook's stored state with the result of `change`. `change` receives null if no state is stored, or if
 * the stored state is not authentic. If `change` returns null, the stored state stays as it is.
 *
 * A delivery in progress may change the state between the read and the save. In that case, the change is repeated with
 * the new state. Throws StoreUnavailable if 20 tries fail.
 */
export async function changeWebhookState(
  { webhookStore }: Pick<Vault, 'webhookStore'>,
  webhookId: string,
  change: (before: WebhookState | null) => WebhookState | null,
): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const stored = await webhookStore.state(webhookId);
    const after = change(stored?.state ?? null);
    if (after === null || (await webhookStore.save(webhookId, stored?.version ?? 0, after, []))) return;
  }
  throw new StoreUnavailable('webhooks', 'race_not_settled');
}

/**
 * Adds attempts to a webhook's stored state, so that `deliveries` shows them even though their result was not stored,
 * because another process or a replay had changed the state. With the changed state, the events may be delivered again.
 * A delivery is therefore not recorded as given up.
 */
export function keepAttempts(
  vault: Pick<Vault, 'webhookStore'>,
  webhookId: string,
  made: readonly WebhookAttempt[],
): Promise<void> {
  const attempts = made.map((one): WebhookAttempt => (one.outcome === 'parked' ? { ...one, outcome: 'failed' } : one));
  return changeWebhookState(vault, webhookId, (newer) => newer && withAttempts(newer, attempts));
}
