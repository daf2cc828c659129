import { counted } from '../../domain/text.js';
import type { ChainLink } from '../../ports/event-chain.js';
import type { WebhookState } from '../../ports/webhook-store.js';
import { forTenants } from '../../vault/for-tenants.js';
import { openTenant } from '../../vault/open-directory.js';
import type { Vault } from '../../vault/vault.js';
import { type Finding, ok, problem } from './finding.js';

const dayMs = 24 * 3_600_000;
/** A delivery is reported if it has failed this many times in a row. These attempts take about six minutes. */
const failedMin = 4;
/**
 * A webhook is reported if the log has this many commits after its position. The limit must be greater than 10,000,
 * because a webhook may skip that many events of other tenants before it stores its position.
 */
const behindMin = 20_000;
const shownMax = 10;
/** What the owner of a webhook can do if its deliveries keep failing. */
export const deliveryAdvice =
  'Read the attempts with `GET /webhooks/{id}/deliveries` and check the receiver. Then send a test delivery, ' +
  'and redeliver the parked events with `strongroom webhooks replay`.';

/**
 * Reports webhooks whose deliveries keep failing or were given up in the last day, and webhooks that are far behind the
 * log. If `tenantId` is null, covers all tenants. If it is set, the result does not state how many events a webhook is
 * behind, because that number includes events of other tenants. Also reports the tenants whose webhooks cannot be read.
 */
export async function webhooks(
  vault: Pick<Vault, 'chain' | 'clock' | 'directory' | 'keys' | 'reportDamage' | 'webhookStore'>,
  tenantId: string | null,
): Promise<Finding> {
  const now = vault.clock.now();
  const head = await vault.chain.head();
  const found: string[] = [];
  let enabled = 0;
  const damaged = await forTenants(vault, tenantId, async (record) => {
    const tenant = await openTenant(vault, record);
    for (const webhook of tenant?.webhooks ?? []) {
      if (!webhook.enabled) continue;
      enabled += 1;
      const stored = await vault.webhookStore.state(webhook.id);
      if (stored === null) continue;
      const { state } = stored;
      const behind = state === null ? 0 : await commitsBetween(vault, state.position, head);
      const wrong = wrongWith(state, behind, now, tenantId !== null);
      if (wrong.length > 0)
        found.push(`${webhook.id}${tenantId === null ? ` of tenant ${record.id}` : ''} (${wrong.join(', ')})`);
    }
  });
  const unread = damaged.map(({ id, error }) =>
    tenantId === null ? `those of tenant ${id} cannot be read: ${error.message}` : 'they cannot be read',
  );
  const wrong = [...unread, ...found];
  if (wrong.length === 0)
    return ok('webhooks', enabled === 0 ? 'none' : `no problem with the deliveries of ${counted(enabled, 'webhook')}`);
  const others = wrong.length > shownMax ? ` and ${wrong.length - shownMax} more` : '';
  const advice = [
    ...(unread.length === 0 ? [] : ['Repair the row or the key that `strongroom doctor` names.']),
    ...(found.length === 0 ? [] : [deliveryAdvice]),
  ];
  return problem('webhooks', `${wrong.slice(0, shownMax).join('; ')}${others}`, advice.join(' '));
}

/**
 * Returns the number of commits after a position. The positions themselves do not show it, because they are byte offsets
 * in the cluster profile. But they show that there are few, without a read of the chain.
 */
async function commitsBetween(
  { chain }: Pick<Vault, 'chain'>,
  position: number,
  head: ChainLink | null,
): Promise<number> {
  if (head === null || head.position - position < behindMin) return 0;
  return head.count - ((await chain.head(position))?.count ?? 0);
}

function wrongWith(state: WebhookState | null, behind: number, now: number, hidesGap: boolean): readonly string[] {
  if (state === null) return ['its state was changed outside the vault, so its events are delivered again'];
  const { pending, parked } = state;
  const failing = pending.filter(({ attempts }) => attempts >= failedMin).length;
  const givenUp = parked.filter(({ at }) => at >= now - dayMs).length;
  return [
    failing === 0 ? [] : `${counted(failing, 'delivery keeps', 'deliveries keep')} failing`,
    givenUp === 0 ? [] : `${counted(givenUp, 'delivery was', 'deliveries were')} parked in the last day`,
    behind < behindMin ? [] : hidesGap ? 'far behind the log' : `at least ${counted(behind, 'event')} behind the log`,
  ].flat();
}
