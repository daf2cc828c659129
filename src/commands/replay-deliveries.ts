import { StoreUnavailable } from '../ports/store-unavailable.js';
import { stateFrom } from '../ports/webhook-store.js';
import type { Vault } from '../vault/vault.js';

const triesMax = 20;

/**
 * Delivers every event since a time (ms) to a webhook again, including events from before the webhook was created.
 * Moves the webhook's checkpoint back to the start of the log; deliveries then skip older events.
 */
export async function replayDeliveries(
  { webhookStore }: Pick<Vault, 'webhookStore'>,
  webhookId: string,
  from: number,
): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const stored = await webhookStore.state(webhookId);
    const state = { ...(stored?.state ?? stateFrom(0)), position: 0, replaysFrom: from };
    // Deliveries in progress also change the state.
    if (await webhookStore.save(webhookId, stored?.version ?? 0, state, [])) return;
  }
  throw new StoreUnavailable('webhooks', 'race_not_settled');
}
