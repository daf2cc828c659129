import { counted } from '../../domain/text.js';
import type { WebhookState } from '../../ports/webhook-store.js';
import { openTenant } from '../../vault/open-directory.js';
import { TenantGone } from '../../vault/tenant-gone.js';
import type { Vault } from '../../vault/vault.js';
import { type Finding, ok, problem } from './finding.js';

const dayMs = 24 * 3_600_000;
/** A delivery is reported if it has failed this many times in a row. These attempts take about six minutes. */
const failedMin = 4;
/**
 * A webhook is reported if its position is this many events behind the log. The limit must be greater than 10,000,
 * because a webhook may skip that many events of other tenants before it stores its position.
 */
const behindMin = 20_000;
const shownMax = 10;

/**
 * Reports webhooks whose deliveries keep failing or were given up in the last day, and webhooks that are far behind the
 * log. If `tenantId` is null, covers all tenants. If it is set, the result does not state how many events a webhook is
 * behind, because that number includes events of other tenants.
 */
export async function webhooks(vault: Vault, tenantId: string | null): Promise<Finding> {
  const now = vault.clock.now();
  const head = await vault.log.head();
  const found: string[] = [];
  let enabled = 0;
  for (const record of await vault.directory.list('tenant')) {
    if (record.removedAt !== null || (tenantId !== null && record.id !== tenantId)) continue;
    const tenant = await openTenant(vault, record).catch((error: unknown) => {
      if (error instanceof TenantGone) return null;
      throw error;
    });
    for (const webhook of tenant?.webhooks ?? []) {
      if (!webhook.enabled) continue;
      enabled += 1;
      const stored = await vault.webhookStore.state(webhook.id);
      const wrong = stored === null ? [] : wrongWith(stored.state, head, now, tenantId !== null);
      if (wrong.length > 0)
        found.push(`${webhook.id}${tenantId === null ? ` of tenant ${record.id}` : ''} (${wrong.join(', ')})`);
    }
  }
  if (found.length === 0)
    return ok('webhooks', enabled === 0 ? 'none' : `no delivery of ${counted(enabled, 'webhook')} failed for long`);
  const others = found.length > shownMax ? ` and ${found.length - shownMax} more` : '';
  return problem(
    'webhooks',
    `${found.slice(0, shownMax).join('; ')}${others}`,
    'Read the attempts with `GET /webhooks/{id}/deliveries` and check the receiver. Then send a test delivery, ' +
      'and redeliver the parked events with `strongroom webhooks replay`.',
  );
}

function wrongWith(state: WebhookState | null, head: number, now: number, hidesGap: boolean): readonly string[] {
  if (state === null) return ['its state was changed outside the vault, so it delivers again'];
  const { position, pending, parked } = state;
  const failing = pending.filter(({ attempts }) => attempts >= failedMin).length;
  const givenUp = parked.filter(({ at }) => at >= now - dayMs).length;
  const behind = head - position;
  return [
    failing === 0 ? [] : `${counted(failing, 'delivery keeps', 'deliveries keep')} failing`,
    givenUp === 0 ? [] : `${counted(givenUp, 'delivery was', 'deliveries were')} parked in the last day`,
    behind < behindMin ? [] : hidesGap ? 'far behind the log' : `${counted(behind, 'event')} behind the log`,
  ].flat();
}
