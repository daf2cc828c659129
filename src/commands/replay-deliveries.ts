import { StoreUnavailable } from '../ports/store-unavailable.js';
import { stateFrom } from '../ports/webhook-store.js';
import type { Vault } from '../vault/vault.js';

const triesMax = 20;

/**
 * Makes the vault deliver every event since a given time (in ms) to a webhook again. This includes events from before
 * the webhook was created. Moves the webhook's checkpoint back to the start of the log; the delivery job then skips
 * events from before that time.
 */
export async function replayDeliveries(
  { webhookStore }: Pick<Vault, 'webhookStore'>,
  webhookId: string,
  from: number,
): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const stored = await webhookStore.state(webhookId);
    const state = { ...(stored?.state ?? stateFrom(0)), position: 0, replaysFrom: from };
    // Retries if the save fails, because deliveries in progress also change the state.
    if (await webhookStore.save(webhookId, stored?.version ?? 0, state, [])) return;
  }
  throw new StoreUnavailable('webhooks', 'race_not_settled');
}
