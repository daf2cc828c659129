import { keyedHash } from '../../events/sealing/keyed-hash.js';
import type { ClaimResult } from '../../ports/claims.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import type { CommandContext } from '../command-context.js';
import { type CommandResult, rejected } from '../result.js';
import type { Vault } from '../vault.js';

const rememberedMs = 24 * 3_600_000;

/** Claims finished before this instant are forgotten. */
export function forgottenBefore(now: number): number {
  return now - rememberedMs;
}

/**
 * Runs a command once per idempotency key: a repeat within 24 h gets the result of the first, which `again` renders
 * from the stored tokens under the caller's present rules; only successes are remembered (contract, section 1).
 */
export async function idempotently<T>(
  vault: Vault,
  tenantKeys: TenantKeys,
  { caller, idempotency }: CommandContext,
  run: (cmd: string | null) => Promise<CommandResult<T>>,
  again: (result: ClaimResult) => Promise<CommandResult<T>>,
): Promise<CommandResult<T>> {
  if (idempotency === null) return run(null);
  const { method, path, key } = idempotency;
  const cmd = keyedHash(tenantKeys.claims, 'idempotency', caller.applicationId, method, path, key).toString('hex');
  const claim = await vault.claims.begin(cmd, forgottenBefore(vault.clock.now()));
  if (claim.state === 'in_flight') return rejected('idempotency_in_flight');
  if (claim.state === 'done') return again(claim.result);
  try {
    return await run(cmd);
  } finally {
    await vault.claims.release(cmd);
  }
}
