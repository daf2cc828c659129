/** A map that keeps at most `entriesMax` entries. When it is full, it evicts the least recently used entry. */
export type Lru<V> = { get(key: string): V | undefined; set(key: string, value: V): void };

export function createLru<V>(entriesMax: number): Lru<V> {
  const entries = new Map<string, V>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= entriesMax) return;
      const oldest = entries.keys().next();
      if (!oldest.done) entries.delete(oldest.value);
    },
  };
}
