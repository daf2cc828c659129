import { setTimeout as after } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { TenantWords } from './word-list.js';

const lifeMs = 600_000;
/** How long a request waits for the collection of words, ms. */
const patienceMs = 50;
const tenantsMax = 100;
/** In characters: about 100 MB at most. */
const sizeMax = 500_000;
/** The number of tenants whose words are collected at the same time. Requests of other tenants get no words yet. */
const buildsMax = 2;

type Kept = { readonly words: TenantWords; readonly startedAt: number };

/**
 * The vocabularies of tenants with recent requests, at most 100, in the memory of this process. They help to write
 * queries and are at most ten minutes old, so an erased word is named for at most that long.
 */
export type Vocabularies = {
  /** Returns the words of a tenant, collected again if they are too old. Returns null if that takes more than 50 ms. */
  of(tenantId: string, now: number, collect: () => Promise<TenantWords | null>): Promise<TenantWords | null>;
  /** Forgets the words of a tenant, including those that are being collected. */
  drop(tenantId: string): void;
  /** Forgets all words. They are collected again at the next request. */
  dropAll(): void;
  /** Resolves when nothing is being collected. */
  idle(): Promise<void>;
};

export function createVocabularies(): Vocabularies {
  const kept = new LRUCache<string, Kept>({
    max: tenantsMax,
    maxSize: sizeMax,
    // Uses the machine's clock, so that words leave memory even without further requests.
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
    // Perhaps no caller is waiting for it any longer.
    building.catch(() => undefined);
    builds.set(tenantId, building);
    return building;

    async function finish(): Promise<TenantWords | null> {
      try {
        const words = await collect();
        // Threat: the tenant was deleted in the meantime, and its words would be kept.
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
