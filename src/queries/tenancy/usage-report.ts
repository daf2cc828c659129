import type { JsonObject } from '../../domain/json.js';
import { latestNow } from '../../ports/clock.js';
import type { Vault } from '../../vault/vault.js';

/**
 * Returns how many live tokens a tenant has, in total and by type. Types without live tokens are left out
 * (docs/contract.md, "Usage report").
 */
export async function usageReport({ rows, clock }: Vault, tenantId: string): Promise<JsonObject> {
  const counts = await rows.countByType(tenantId, latestNow(clock));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { token_report: { tokens_total: total, tokens_by_type: Object.fromEntries(counts) } };
}
