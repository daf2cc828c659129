import type { JsonObject } from '../../domain/json.js';
import type { WebhookDocument } from '../../domain/tenancy/webhook.js';
import { formatTimestamp } from '../../domain/time.js';
import type { WebhookAttempt } from '../../ports/webhook-store.js';
import { tenantDocument } from '../../vault/open-directory.js';
import type { Vault } from '../../vault/vault.js';
import { stampsAnswer } from './tenancy-answers.js';

/** Returns a tenant's webhooks, newest first. */
export async function listWebhooks(
  vault: Pick<Vault, 'directory' | 'keys'>,
  tenantId: string,
): Promise<readonly WebhookDocument[]> {
  return (await tenantDocument(vault, tenantId))?.webhooks.toReversed() ?? [];
}

export async function findWebhook(
  vault: Pick<Vault, 'directory' | 'keys'>,
  tenantId: string,
  id: string,
): Promise<WebhookDocument | null> {
  return (await listWebhooks(vault, tenantId)).find((webhook) => webhook.id === id) ?? null;
}

/**
 * Returns a webhook's stored delivery attempts, newest first. If a delivery was given up, its last attempt is kept
 * longer than other attempts.
 */
export async function listDeliveries(
  { webhookStore }: Pick<Vault, 'webhookStore'>,
  webhookId: string,
  outcome: WebhookAttempt['outcome'] | null,
): Promise<readonly WebhookAttempt[]> {
  const state = (await webhookStore.state(webhookId))?.state ?? null;
  if (state === null) return [];
  const { attempts, parked } = state;
  const others = attempts.filter((attempt) => attempt.outcome !== 'parked');
  const all = [...others, ...parked].sort((one, other) => other.at - one.at);
  return outcome === null ? all : all.filter((attempt) => attempt.outcome === outcome);
}

/** Returns a webhook as it appears in API responses, without secrets or keys. */
export function webhookAnswer(tenantId: string, webhook: WebhookDocument): JsonObject {
  const { id, url, description, enabled, event_types, token_types, containers, secrets } = webhook;
  const ending = secrets.flatMap(({ ends_at: endsAt }) => (endsAt === null ? [] : [endsAt]));
  return {
    id,
    tenant_id: tenantId,
    url,
    ...(description === '' ? {} : { description }),
    enabled,
    event_types,
    ...(token_types === null ? {} : { token_types }),
    ...(containers === null ? {} : { containers }),
    ...(ending.length === 0 ? {} : { old_secrets_end_at: formatTimestamp(Math.max(...ending)) }),
    ...stampsAnswer(webhook),
  };
}

export function deliveryAnswer(attempt: WebhookAttempt): JsonObject {
  const { eventId, eventType, at, durationMs, outcome, status, problem, nextAt } = attempt;
  return {
    event_id: eventId,
    event_type: eventType,
    attempt: attempt.attempt,
    outcome,
    ...(status === null ? {} : { response_status: status }),
    ...(problem === null ? {} : { problem }),
    duration_ms: durationMs,
    created_at: formatTimestamp(at),
    ...(nextAt === null ? {} : { next_attempt_at: formatTimestamp(nextAt) }),
  };
}
