/**
 * Caches derived search keys by generation and tenant. A dropped key is not zeroed, because it may still be in use.
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
