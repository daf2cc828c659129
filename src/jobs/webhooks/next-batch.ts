import { isAttemptDue } from '../../commands/webhooks/post-to-webhook.js';
import type { ClearEvent } from '../../events/event.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { PendingDelivery, WebhookState } from '../../ports/webhook-store.js';
import type { Vault } from '../../vault/vault.js';
import { type Retried, type Unreadable, undoesCreation } from './deliver-batch.js';
import type { Subscription } from './subscriptions.js';

/** The maximum number of new events that are delivered to a webhook before its checkpoint is stored. */
const chunkSize = 16;

/**
 * Returns the deliveries that are due. Of each token's pending events, only the oldest can be due. This ensures that
 * the events of a token arrive in order.
 */
export function dueOf(pending: readonly PendingDelivery[], now: number): readonly PendingDelivery[] {
  const oldest = new Map<string, PendingDelivery>();
  for (const one of pending) {
    const other = oldest.get(one.stream);
    if (other === undefined || one.position < other.position) oldest.set(one.stream, one);
  }
  return [...oldest.values()].filter(({ nextAt }) => isAttemptDue(nextAt, now)).slice(0, chunkSize);
}

/**
 * Returns the next events on the page that may concern the webhook, and the position where the search of the page
 * ended.
 */
export function chunkOf(
  { tenantId, webhook }: Subscription,
  { replaysFrom, replaysUpTo = 0 }: WebhookState,
  page: readonly ClearEvent[],
  position: number,
): { readonly chunk: readonly ClearEvent[]; readonly upTo: number } {
  const types: readonly string[] = webhook.event_types;
  const isSkipped = (event: ClearEvent) => event.position <= replaysUpTo && event.time < replaysFrom;
  const concerns = page.filter(
    (event) => event.tenantId === tenantId && types.includes(event.type) && !isSkipped(event) && !undoesCreation(event),
  );
  const chunk = concerns.slice(0, chunkSize);
  const last = concerns.length > chunkSize ? chunk.at(-1) : page.at(-1);
  return { chunk, upTo: last?.position ?? position };
}

/**
 * Reads the events of pending deliveries. An event can be `missing` if the operator has accepted an older log, or if
 * the log was changed. `strongroom audit verify` finds out which. Threat: an attacker changes one event in the log, so
 * that the webhook receives no event any longer. That event is `unreadable`. Throws StoreUnavailable.
 */
export async function eventsAt(
  { log }: Pick<Vault, 'log'>,
  due: readonly PendingDelivery[],
): Promise<{
  readonly retried: readonly Retried[];
  readonly missing: readonly PendingDelivery[];
  readonly unreadable: readonly Unreadable[];
}> {
  const retried: Retried[] = [];
  const missing: PendingDelivery[] = [];
  const unreadable: Unreadable[] = [];
  await Promise.all(
    due.map(async (delivery) => {
      try {
        const [event] = await log.readClearFrom(delivery.stream, delivery.revision, 1);
        if (event === undefined) missing.push(delivery);
        else retried.push({ event, failed: delivery.attempts });
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        unreadable.push({ delivery, error });
      }
    }),
  );
  return { retried, missing, unreadable };
}
