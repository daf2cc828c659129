import { keyedHash } from '../events/sealing/keyed-hash.js';
import type { TenantKeys } from '../keys/key-ring.js';
import { earliestNow } from '../ports/clock.js';
import type { CommandContext } from '../vault/command-context.js';
import type { Vault } from '../vault/vault.js';
import type { ClaimResult } from '../views/finished-claim.js';

const rememberedMs = 24 * 3_600_000;

/** Returns the cutoff for finished claims: the vault discards those that are older. */
export function forgottenBefore(now: number): number {
  return now - rememberedMs;
}

/**
 * The state of a request that may have an idempotency key. `first`: this request is the first with its key, so the
 * caller runs the command with `cmd` in its events, and then calls `release`. `repeat`: an earlier request with the
 * same key succeeded, and the response is rendered again from its result. `in_flight`: an earlier request with the same
 * key is still running.
 */
export type Claimed =
  | {
      readonly state: 'first';
      /** A keyed hash of the application, method, path and idempotency key. Null if there is no idempotency key. */
      readonly cmd: string | null;
      release(): Promise<void>;
    }
  | { readonly state: 'repeat'; readonly result: ClaimResult }
  | { readonly state: 'in_flight' };

/**
 * Claims a request, so that it succeeds only once per idempotency key within 24 hours. Only successes are recorded. A
 * request without an idempotency key always gets the state `first` (docs/contract.md, "Idempotency").
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
