import { setTimeout as after } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { TenantWords } from './word-list.js';

const lifeMs = 600_000;
/** How long a request waits for words to be collected, in ms. */
const patienceMs = 50;
const tenantsMax = 100;
/** The maximum number of characters in all vocabularies, which take about 100 MB at most. */
const sizeMax = 500_000;
/**
 * The maximum number of tenants whose words are collected at the same time. In the meantime, requests of further
 * tenants get no words.
 */
const buildsMax = 2;

type Kept = { readonly words: TenantWords; readonly startedAt: number };

/**
 * The vocabularies of at most 100 tenants with recent requests, in this process's memory. They are at most ten minutes
 * old, so an erased word may be suggested for at most that long.
 */
export type Vocabularies = {
  /** Returns a tenant's words. Collects them again if they are too old; returns null if that takes more than 50 ms. */
  of(tenantId: string, now: number, collect: () => Promise<TenantWords | null>): Promise<TenantWords | null>;
  /** Drops a tenant's words, including those that are being collected. */
  drop(tenantId: string): void;
  /** Drops all words. The next request collects them again. */
  dropAll(): void;
  /** Resolves once no words are being collected. */
  idle(): Promise<void>;
};

export function createVocabularies(): Vocabularies {
  const kept = new LRUCache<string, Kept>({
    max: tenantsMax,
    maxSize: sizeMax,
    // Uses the machine's clock, so that words are removed from memory even if there are no further requests.
    ttl: lifeMs,
    ttlAutopurge: true,
    sizeCalculation: ({ words: { keys, containers } }) => 1 + keys.size + containers.size,
  });
  const builds = new Map<string, Promise<TenantWords | null>>();

  function forgetOld(now: number): void {
    for (const [tenantId, { startedAt }] of [...kept.entries()]) {
      if (now - startedAt >= lifeMs) kept.delete(tenantId);
    }
  }

  function build(tenantId: string, now: number, collect: () => Promise<TenantWords | null>) {
    const building = finish();
    // Handles a rejection even if no caller is waiting any longer.
    building.catch(() => undefined);
    builds.set(tenantId, building);
    return building;

    async function finish(): Promise<TenantWords | null> {
      try {
        const words = await collect();
        // Threat: if the tenant was deleted in the meantime, its words would stay in memory.
        if (builds.get(tenantId) !== building) return null;
        if (words !== null) kept.set(tenantId, { words, startedAt: now });
        return words;
      } finally {
        if (builds.get(tenantId) === building) builds.delete(tenantId);
      }
    }
  }

  return {
    async of(tenantId, now, collect) {
      forgetOld(now);
      const entry = kept.get(tenantId);
      if (entry !== undefined) return entry.words;
      const running = builds.get(tenantId);
      if (running === undefined && builds.size >= buildsMax) return null;
      const waiting = new AbortController();
      const late = after(patienceMs, null, { signal: waiting.signal }).catch(() => null);
      try {
        return await Promise.race([running ?? build(tenantId, now, collect), late]);
      } finally {
        waiting.abort();
      }
    },
    drop(tenantId) {
      kept.delete(tenantId);
      builds.delete(tenantId);
    },
    dropAll() {
      kept.clear();
      builds.clear();
    },
    async idle() {
      await Promise.allSettled(builds.values());
    },
  };
}
