/**
 * The tokens whose deletion returned 503 after it was, or may have been, recorded. Queries no longer find these tokens,
 * but their keys may still exist. `finishRemembered` finishes their deletion.
 */
export type UnfinishedErasures = {
  /** Returns the streams of a tenant's tokens. */
  of(tenantId: string): readonly string[];
  has(tenantId: string, stream: string): boolean;
  remember(tenantId: string, streams: Iterable<string>): void;
  forget(tenantId: string, streams: Iterable<string>): void;
  /** Forgets the tokens of a tenant whose keys are destroyed. */
  forgetTenant(tenantId: string): void;
  /** Forgets everything that was last remembered before a time (`performance.now()`). */
  forgetBefore(before: number): void;
};

export function createUnfinishedErasures(): UnfinishedErasures {
  /** The time at which each stream was last remembered (`performance.now()`), by tenant. */
  const byTenant = new Map<string, Map<string, number>>();

  function forget(tenantId: string, streams: Iterable<string>): void {
    const remembered = byTenant.get(tenantId);
    if (remembered === undefined) return;
    for (const stream of streams) remembered.delete(stream);
    if (remembered.size === 0) byTenant.delete(tenantId);
  }

  return {
    of: (tenantId) => [...(byTenant.get(tenantId)?.keys() ?? [])],
    has: (tenantId, stream) => byTenant.get(tenantId)?.has(stream) === true,
    remember(tenantId, streams) {
      const remembered = byTenant.get(tenantId) ?? new Map<string, number>();
      for (const stream of streams) remembered.set(stream, performance.now());
      if (remembered.size > 0) byTenant.set(tenantId, remembered);
    },
    forget,
    forgetTenant: (tenantId) => void byTenant.delete(tenantId),
    forgetBefore(before) {
      for (const [tenantId, remembered] of byTenant) {
        const old = [...remembered].filter(([, at]) => at < before);
        forget(
          tenantId,
          old.map(([stream]) => stream),
        );
      }
    },
  };
}
