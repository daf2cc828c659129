import { createRecentTenants } from '../../vault/recent-tenants.js';

/** The number of requests that each tenant can run at the same time while several tenants are active. */
const atOnceMax = 4;

/**
 * Limits how many requests each tenant runs at the same time. If only one tenant is active, all of its requests run. If
 * several tenants are active, each of them runs a few requests, and its other requests wait. A tenant therefore does
 * not get a larger share of the serving thread by opening more connections.
 */
export type Shares = {
  /**
   * Resolves when a request may run. If the request may run immediately, returns undefined. `isGone` returns true if
   * the caller has disconnected. In that case, the request does not have to run.
   */
  enter(tenantId: string, isGone: () => boolean): Promise<void> | undefined;
  /** Records that a running request has finished. */
  leave(tenantId: string): void;
};

type Waiting = { readonly isGone: () => boolean; enter(): void };
type Share = { running: number; readonly waiting: Waiting[] };

export function createShares(): Shares {
  const shares = new Map<string, Share>();
  const recent = createRecentTenants();

  return {
    enter(tenantId, isGone) {
      recent.note(tenantId);
      const share = shares.get(tenantId) ?? { running: 0, waiting: [] };
      shares.set(tenantId, share);
      if (share.running < atOnceMax || (share.waiting.length === 0 && !recent.isAnotherActive(tenantId))) {
        share.running += 1;
        return undefined;
      }
      return new Promise((enter) => share.waiting.push({ isGone, enter }));
    },
    leave(tenantId) {
      const share = shares.get(tenantId);
      if (share === undefined) return;
      share.running -= 1;
      while (share.waiting.length > 0 && (share.running < atOnceMax || !recent.isAnotherActive(tenantId))) {
        const next = share.waiting.shift();
        if (next === undefined || next.isGone()) continue;
        share.running += 1;
        next.enter();
      }
      if (share.running === 0) shares.delete(tenantId);
    },
  };
}
