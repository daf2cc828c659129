import { z } from 'zod';
import { replayDeliveries } from '../../commands/webhooks/replay-deliveries.js';
import { findWebhook } from '../../queries/tenancy/webhooks.js';
import { OperationFailed, operation } from '../operations/operation.js';
import { tenantOrOnly } from '../operations/tenant-or-only.js';

/** Makes the service redeliver all of a webhook's events since the time `from`, which must not be in the future. */
export const replayWebhook = operation(
  z.object({
    /** Null selects the only tenant. */ tenantId: z.string().nullable(),
    webhookId: z.string(),
    from: z.number(),
  }),
  async (service, { tenantId, webhookId, from }) => {
    const tenant = await tenantOrOnly(service, tenantId);
    const webhook = await findWebhook(service.vault, tenant, webhookId);
    if (webhook === null)
      throw new OperationFailed('the tenant has no webhook with this id. `GET /webhooks` lists them.');
    const started = await replayDeliveries(service.vault, webhookId, from);
    if (!started.ok) throw new OperationFailed('that moment is in the future. Set --from to a time in the past.');
    return { webhook_id: webhookId, enabled: webhook.enabled, has_containers: webhook.containers !== null };
  },
);
