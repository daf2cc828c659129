/**
 * The search keys that were derived, for each generation and tenant. A copy may be in use when one is dropped, so it is let
 * go and not zeroed.
 */
export function createSearchKeyCache() {
  const generations = new Map<number, Map<string, Buffer>>();

  return {
    get: (generation: number, tenantId: string): Buffer | undefined => generations.get(generation)?.get(tenantId),
    add(generation: number, tenantId: string, key: Buffer): Buffer {
      const tenants = generations.get(generation) ?? new Map<string, Buffer>();
      generations.set(generation, tenants.set(tenantId, key));
      return key;
    },
    dropTenant(tenantId: string): void {
      for (const tenants of generations.values()) tenants.delete(tenantId);
    },
    clear: (): void => generations.clear(),
    dropGeneration(generation: number): void {
      generations.delete(generation);
    },
  };
}
