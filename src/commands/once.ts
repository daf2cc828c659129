import { keyedHash } from '../events/sealing/keyed-hash.js';
import { earliestNow } from '../ports/clock.js';
import type { TenantKeys } from '../ports/key-ring.js';
import { type CommandResult, rejected } from '../vault/result.js';
import type { Vault } from '../vault/vault.js';
import type { ClaimResult } from '../views/finished-claim.js';

const rememberedMs = 24 * 3_600_000;

/** Returns the instant before which finished claims are forgotten. */
export function forgottenBefore(now: number): number {
  return now - rememberedMs;
}

/** Method, concrete path and key of a request, and the application it came from. */
export type IdempotentRequest = {
  readonly applicationId: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
};

/**
 * Runs a command once per idempotency key; null runs it every time. A repeat within 24 h returns what `again` renders from the result
 * of the first. While the first is running, a repeat is rejected. Only successes are remembered (docs/contract.md,
 * "Idempotency").
 */
export async function once<T>(
  vault: Vault,
  { claims }: TenantKeys,
  request: IdempotentRequest | null,
  run: (cmd: string | null) => Promise<CommandResult<T>>,
  again: (result: ClaimResult) => Promise<CommandResult<T>>,
): Promise<CommandResult<T>> {
  if (request === null) return run(null);
  const { applicationId, method, path, key } = request;
  const cmd = keyedHash(claims, 'idempotency', applicationId, method, path, key).toString('hex');
  const claim = await vault.claims.begin(cmd, forgottenBefore(earliestNow(vault.clock)));
  if (claim.state === 'in_flight') return rejected('idempotency_in_flight');
  if (claim.state === 'done') return again(claim.result);
  try {
    return await run(cmd);
  } finally {
    await vault.claims.release(cmd);
  }
}
