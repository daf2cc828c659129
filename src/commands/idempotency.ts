import { keyedHash } from '../events/sealing/keyed-hash.js';
import type { TenantKeys } from '../keys/key-ring.js';
import { earliestNow } from '../ports/clock.js';
import type { CommandContext } from '../vault/command-context.js';
import type { Vault } from '../vault/vault.js';
import type { ClaimResult } from '../views/finished-claim.js';

const rememberedMs = 24 * 3_600_000;

/** Returns the time before which finished claims are discarded. */
export function forgottenBefore(now: number): number {
  return now - rememberedMs;
}

/**
 * The state of a request that may have an idempotency key. `first`: the command runs with `cmd` in its events, and then
 * calls `release`. `repeat`: the response renders the result of the first request again. `in_flight`: the first request
 * is still running.
 */
export type Claimed =
  | {
      readonly state: 'first';
      /** Keyed hash of the application, method, path and idempotency key; null without an idempotency key. */
      readonly cmd: string | null;
      release(): Promise<void>;
    }
  | { readonly state: 'repeat'; readonly result: ClaimResult }
  | { readonly state: 'in_flight' };

/**
 * Claims a request, so that it runs once per idempotency key within 24 hours. Only successes are recorded. A request
 * without a key is always the first (docs/contract.md, "Idempotency").
 */
export async function claimRequest(
  vault: Pick<Vault, 'claims' | 'clock'>,
  { claims }: TenantKeys,
  applicationId: string,
  idempotency: CommandContext['idempotency'],
): Promise<Claimed> {
  if (idempotency === null) return { state: 'first', cmd: null, release: async () => undefined };
  const { method, path, key } = idempotency;
  const cmd = keyedHash(claims, 'idempotency', applicationId, method, path, key);
  const claim = await vault.claims.begin(cmd, forgottenBefore(earliestNow(vault.clock)));
  if (claim.state === 'in_flight') return { state: 'in_flight' };
  if (claim.state === 'done') return { state: 'repeat', result: claim.result };
  return { state: 'first', cmd, release: () => vault.claims.release(cmd) };
}
