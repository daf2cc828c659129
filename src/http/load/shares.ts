/** Requests of one tenant that run at once while other tenants send requests, too. */
const atOnceMax = 8;
/** A tenant counts as sending requests for so long after its last one, ms. */
const activeMs = 1_000;

/**
 * How many requests of each tenant run at once. One tenant alone runs as many as it sends. When another one sends
 * requests as well, each runs a few and its others wait: what comes next to the thread that serves then is no longer
 * decided by who opens more connections.
 */
export type Shares = {
  /** Resolves when a request may run; undefined: at once. `isGone`: its caller left, so it need not run. */
  enter(tenantId: string, isGone: () => boolean): Promise<void> | undefined;
  /** A request that ran has ended. */
  leave(tenantId: string): void;
};

type Waiting = { readonly isGone: () => boolean; enter(): void };
type Share = { running: number; readonly waiting: Waiting[] };

export function createShares(): Shares {
  const shares = new Map<string, Share>();
  /** The tenant of the last request, when that came, and when the last one of any other tenant did. */
  let last = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  let otherAt = Number.NEGATIVE_INFINITY;

  function isContended(tenantId: string): boolean {
    return performance.now() - (tenantId === last ? otherAt : lastAt) < activeMs;
  }

  return {
    enter(tenantId, isGone) {
      const now = performance.now();
      if (tenantId !== last) {
        otherAt = lastAt;
        last = tenantId;
      }
      lastAt = now;
      const share = shares.get(tenantId) ?? { running: 0, waiting: [] };
      shares.set(tenantId, share);
      if (share.running < atOnceMax || (share.waiting.length === 0 && !isContended(tenantId))) {
        share.running += 1;
        return undefined;
      }
      return new Promise((enter) => share.waiting.push({ isGone, enter }));
    },
    leave(tenantId) {
      const share = shares.get(tenantId);
      if (share === undefined) return;
      share.running -= 1;
      while (share.waiting.length > 0 && (share.running < atOnceMax || !isContended(tenantId))) {
        const next = share.waiting.shift();
        if (next === undefined || next.isGone()) continue;
        share.running += 1;
        next.enter();
      }
      if (share.running === 0) shares.delete(tenantId);
    },
  };
}
