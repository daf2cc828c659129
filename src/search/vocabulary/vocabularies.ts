import { performance } from 'node:perf_hooks';
import { setTimeout as after } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { TenantWords } from './word-list.js';

const lifeMs = 600_000;
/** The maximum time, in ms, that a request waits for words to be collected. */
const patienceMs = 50;
const tenantsMax = 100;
/** The maximum total number of characters in all vocabularies. With this limit, they take up at most about 100 MB. */
const sizeMax = 500_000;
/**
 * The maximum number of tenants whose words are collected at the same time. As long as this limit is reached, requests
 * from other tenants get no words.
 */
const buildsMax = 2;

/** A collection that takes less time than this, in ms, may be repeated after each token that ends. */
const cheapMs = 20;
/**
 * A longer collection is repeated only after this many times its duration, even if tokens have ended since. Threat: a
 * caller that deletes and searches in turn delays other requests.
 */
const restFactor = 20;

type Kept = {
  readonly words: TenantWords;
  readonly startedAt: number;
  /** The monotonic time in ms from which these words may be collected again. */
  readonly restedAt: number;
  /** True if a token has ended since the collection began, so that its words may be among these. */
  isStale: boolean;
};

/**
 * The vocabularies of at most 100 tenants, in the memory of this process. If there are more tenants, only the most
 * recently active tenants have a vocabulary. A vocabulary is at most ten minutes old. If this process ends a token, the
 * tenant's words are collected again sooner. If another process ends it, its words may be suggested for up to ten
 * minutes.
 */
export type Vocabularies = {
  /**
   * Returns a tenant's words. If the words are too old or not in memory, calls `collect`. Returns null if collecting
   * takes longer than 50 ms.
   */
  of(tenantId: string, now: number, collect: () => Promise<TenantWords | null>): Promise<TenantWords | null>;
  /** Notes that tokens of a tenant were deleted or have expired, so that their words are soon no longer suggested. */
  tokensEnded(tenantId: string): void;
  /** Drops a tenant's words, even those that are still being collected. */
  drop(tenantId: string): void;
  /** Drops the words of all tenants. A tenant's next request collects them again. */
  dropAll(): void;
  /** Resolves when no words are being collected. */
  idle(): Promise<void>;
};

export function createVocabularies(monotonicMs: () => number = () => performance.now()): Vocabularies {
  const kept = new LRUCache<string, Kept>({
    max: tenantsMax,
    maxSize: sizeMax,
    // The cache uses the machine's clock, so it removes words from memory even if there are no more requests.
    ttl: lifeMs,
    ttlAutopurge: true,
    sizeCalculation: ({ words: { keys, containers } }) => 1 + keys.size + containers.size,
  });
  const builds = new Map<string, Promise<TenantWords | null>>();
  /** The tenants of which a token has ended while their words are being collected. */
  const overtaken = new Set<string>();

  function forgetOld(now: number): void {
    for (const [tenantId, { startedAt }] of [...kept.entries()]) {
      if (now - startedAt >= lifeMs) kept.delete(tenantId);
    }
  }

  function build(tenantId: string, now: number, collect: () => Promise<TenantWords | null>) {
    const beganMs = monotonicMs();
    overtaken.delete(tenantId);
    const building = finish();
    // Handles a rejection even if no caller is still waiting for the result.
    building.catch(() => undefined);
    builds.set(tenantId, building);
    return building;

    async function finish(): Promise<TenantWords | null> {
      try {
        const words = await collect();
        // Discards the words if the tenant was deleted while they were being collected. Threat: an attacker reads the
        // words of a deleted tenant from memory.
        if (builds.get(tenantId) !== building) return null;
        const endMs = monotonicMs();
        const restMs = endMs - beganMs < cheapMs ? 0 : (endMs - beganMs) * restFactor;
        const isStale = overtaken.has(tenantId);
        if (words !== null) kept.set(tenantId, { words, startedAt: now, restedAt: endMs + restMs, isStale });
        return words;
      } finally {
        if (builds.get(tenantId) === building) {
          builds.delete(tenantId);
          overtaken.delete(tenantId);
        }
      }
    }
  }

  return {
    async of(tenantId, now, collect) {
      forgetOld(now);
      const entry = kept.get(tenantId);
      if (entry !== undefined && !(entry.isStale && monotonicMs() >= entry.restedAt)) return entry.words;
      kept.delete(tenantId);
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
    tokensEnded(tenantId) {
      const entry = kept.get(tenantId);
      if (entry !== undefined) entry.isStale = true;
      if (builds.has(tenantId)) overtaken.add(tenantId);
    },
    drop(tenantId) {
      kept.delete(tenantId);
      builds.delete(tenantId);
      overtaken.delete(tenantId);
    },
    dropAll() {
      kept.clear();
      builds.clear();
      overtaken.clear();
    },
    async idle() {
      await Promise.allSettled(builds.values());
    },
  };
}
