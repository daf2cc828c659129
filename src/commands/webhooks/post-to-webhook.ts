import { signingSecrets, type WebhookDocument } from '../../domain/tenancy/webhook.js';
import { formatTimestamp } from '../../domain/time.js';
import { signedHeaders } from '../../events/webhooks/signature.js';
import type { SendOutcome, WebhookSender } from '../../ports/webhook-sender.js';
import type { WebhookAttempt, WebhookState } from '../../ports/webhook-store.js';
import type { Vault } from '../../vault/vault.js';
import { changeWebhookState } from './change-webhook-state.js';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const firstDelays = [5 * second, minute, 5 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour];
const laterDelay = 4 * hour;
/**
 * A delivery is parked after this many failed attempts. A little more than three days pass between the first attempt
 * and the last.
 */
const attemptsMax = 26;

/** Returns the delay before the next attempt, in ms. Returns null after the last attempt. */
function delayAfter(failed: number): number | null {
  return failed >= attemptsMax ? null : (firstDelays[failed - 1] ?? laterDelay);
}

/**
 * Returns true if an attempt that was scheduled for `nextAt` is due. If `nextAt` is further away than the longest
 * delay, the clock has been set back since, and the attempt is due too. A minute is allowed for the clocks of other
 * processes.
 */
export function isAttemptDue(nextAt: number, now: number): boolean {
  return nextAt <= now || nextAt > now + laterDelay + minute;
}

/**
 * Attempts to deliver one event. Returns a record of the attempt. The record includes the time of the next attempt.
 * `failed` is the number of earlier attempts, all of which failed.
 */
export async function attemptDelivery(
  vault: Pick<Vault, 'webhookSender' | 'clock'>,
  webhook: WebhookDocument,
  { id, type }: { readonly id: string; readonly type: string },
  payload: string,
  failed: number,
): Promise<WebhookAttempt> {
  const at = vault.clock.now();
  const { response, durationMs } = await postToWebhook(vault, webhook, id, payload, vault.webhookSender.post);
  const isDelivered = isAccepted(response);
  const delay = isDelivered ? null : delayAfter(failed + 1);
  const undelivered = delay === null ? 'parked' : 'failed';
  return {
    eventId: id,
    eventType: type,
    at,
    durationMs,
    attempt: failed + 1,
    outcome: isDelivered ? 'delivered' : undelivered,
    ...shownResponse(response),
    // An attempt without a response takes 10 s. The delay begins after it.
    nextAt: delay === null ? null : vault.clock.now() + delay,
  };
}

/** Posts a signed message to a webhook. Never throws. */
async function postToWebhook(
  { clock }: Pick<Vault, 'clock'>,
  webhook: WebhookDocument,
  id: string,
  payload: string,
  post: WebhookSender['post'],
) {
  const now = clock.now();
  const headers = signedHeaders(signingSecrets(webhook, now), id, now, payload);
  const beganAt = performance.now();
  const response = await post(new URL(webhook.url), headers, payload);
  return { response, durationMs: Math.round(performance.now() - beganAt) };
}

/** Returns true if the receiver accepted the message. */
export function isAccepted(response: SendOutcome): boolean {
  return response.kind === 'responded' && response.status >= 200 && response.status < 300;
}

function shownResponse(response: SendOutcome): Pick<WebhookAttempt, 'status' | 'problem'> {
  if (response.kind === 'failed') return { status: null, problem: response.problem };
  const isRedirect = response.status >= 300 && response.status < 400;
  return { status: response.status, problem: isRedirect ? 'redirects are not followed' : null };
}

/**
 * Sends a test event. A test event is not in the log, and is not retried. If the receiver accepts it, all waiting
 * deliveries, including the next denial, become due immediately. Throws StoreUnavailable if the times of the waiting
 * deliveries cannot be stored.
 */
export async function sendTestEvent(
  vault: Pick<Vault, 'clock' | 'random' | 'webhookSender' | 'webhookStore'>,
  tenantId: string,
  webhook: WebhookDocument,
): Promise<WebhookAttempt> {
  const at = vault.clock.now();
  const eventId = vault.random.uuid();
  const payload = JSON.stringify({
    type: 'webhook.test',
    timestamp: formatTimestamp(at),
    data: { tenant_id: tenantId, webhook_id: webhook.id },
  });
  const { response, durationMs } = await postToWebhook(vault, webhook, eventId, payload, (...message) =>
    vault.webhookSender.postTest(tenantId, ...message),
  );
  const outcome = isAccepted(response) ? 'delivered' : 'failed';
  if (outcome === 'delivered') {
    await changeWebhookState(vault, webhook.id, (state) => state && madeDue(state, at));
  }
  const what = { eventId, eventType: 'webhook.test', at, durationMs, attempt: 1, outcome } as const;
  return { ...what, ...shownResponse(response), nextAt: null };
}

/** Returns the state with all waiting deliveries due at `at` (in ms). Returns null if none of them is due later. */
function madeDue(state: WebhookState, at: number): WebhookState | null {
  const { pending, denials } = state;
  if (pending.every(({ nextAt }) => nextAt <= at) && (denials === null || denials.nextAt <= at)) return null;
  return {
    ...state,
    pending: pending.map((one) => ({ ...one, nextAt: Math.min(one.nextAt, at) })),
    denials: denials && { ...denials, nextAt: Math.min(denials.nextAt, at) },
  };
}
