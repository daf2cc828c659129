/** How long a tenant counts as active after its last request, in ms. */
const activeMs = 1_000;

/** Knows whether several tenants are sending requests. */
export type RecentTenants = {
  note(tenantId: string): void;
  /** Returns true if a tenant other than this one is active. */
  isAnotherActive(tenantId: string): boolean;
  /** Returns true if at least two tenants are active. */
  areSeveralActive(): boolean;
};

export function createRecentTenants(): RecentTenants {
  let last = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  /** The time of the last request from any tenant other than `last`. */
  let otherAt = Number.NEGATIVE_INFINITY;

  const isRecent = (time: number) => performance.now() - time < activeMs;
  return {
    note(tenantId) {
      if (tenantId !== last) {
        otherAt = lastAt;
        last = tenantId;
      }
      lastAt = performance.now();
    },
    isAnotherActive: (tenantId) => isRecent(tenantId === last ? otherAt : lastAt),
    areSeveralActive: () => isRecent(otherAt),
  };
}
