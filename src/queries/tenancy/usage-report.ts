import type { TokenType } from '../../domain/token/types/token-type.js';
import { latestNow } from '../../ports/clock.js';
import type { Vault } from '../../vault/vault.js';

type UsageReport = { readonly total: number; readonly byType: ReadonlyMap<TokenType, number> };

/**
 * Returns how many live tokens a tenant has, in total and by type. Types without live tokens are left out
 * (docs/contract.md, "Usage report").
 */
export async function usageReport(
  { rows, clock }: Pick<Vault, 'clock' | 'rows'>,
  tenantId: string,
): Promise<UsageReport> {
  const byType = await rows.countByType(tenantId, latestNow(clock));
  const total = [...byType.values()].reduce((sum, count) => sum + count, 0);
  return { total, byType };
}
