import { keyedHash } from '../events/sealing/keyed-hash.js';
import type { TenantKeys } from '../keys/key-ring.js';
import { earliestNow } from '../ports/clock.js';
import type { RequestContext } from '../vault/request-context.js';
import type { Vault } from '../vault/vault.js';
import type { ClaimResult } from '../views/finished-claim.js';

const rememberedMs = 24 * 3_600_000;

/** Returns the cutoff time. Finished claims from before this time are discarded. */
export function forgottenBefore(now: number): number {
  return now - rememberedMs;
}

/**
 * The state of a request that may have an idempotency key:
 * - `first`: This is the first request with its key, or the request has no key. The caller runs the command with `cmd`
 *   in its events, and then calls `release`.
 * - `repeat`: An earlier request with the same key succeeded. The caller renders the response again from the stored
 *   result of that request.
 * - `in_flight`: An earlier request with the same key is still running.
 */
export type Claimed =
  | {
      readonly state: 'first';
      /**
       * A keyed hash of the application, method, path and idempotency key. Null if the request has no idempotency key.
       */
      readonly cmd: string | null;
      release(): Promise<void>;
    }
  | { readonly state: 'repeat'; readonly result: ClaimResult }
  | { readonly state: 'in_flight' };

/**
 * Claims a request, so that at most one request with the same idempotency key succeeds within 24 hours. Failed requests
 * are not recorded, so they can be repeated. A request without an idempotency key always gets the state `first`
 * (docs/contract.md, "Idempotency").
 */
export async function claimRequest(
  vault: Pick<Vault, 'claims' | 'clock'>,
  { claims }: TenantKeys,
  applicationId: string,
  idempotency: RequestContext['idempotency'],
): Promise<Claimed> {
  if (idempotency === null) return { state: 'first', cmd: null, release: async () => undefined };
  const { method, path, key } = idempotency;
  const cmd = keyedHash(claims, 'idempotency', applicationId, method, path, key);
  const claim = await vault.claims.begin(cmd, forgottenBefore(earliestNow(vault.clock)));
  if (claim.state === 'in_flight') return { state: 'in_flight' };
  if (claim.state === 'done') return { state: 'repeat', result: claim.result };
  return { state: 'first', cmd, release: () => vault.claims.release(cmd) };
}
