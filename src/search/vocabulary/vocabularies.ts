import { setTimeout as after } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { TenantWords } from './word-list.js';

const lifeMs = 600_000;
/** How long a request waits for words that are being collected. */
const patienceMs = 50;
const tenantsMax = 100;
/** In characters: about 100 MB at most. */
const sizeMax = 500_000;
/** Tenants whose words are collected at one time; a further one is told nothing yet. */
const buildsMax = 2;

type Kept = { readonly words: TenantWords; readonly startedAt: number };

/**
 * The vocabularies of the tenants that asked lately: in memory, in this process, at most 100. Advice for who types a
 * query, at most ten minutes old: what was erased since may still be named, no longer.
 */
export type Vocabularies = {
  /** The words of a tenant, collected when there are none or they are too old; null: not ready within 50 ms. */
  of(tenantId: string, now: number, collect: () => Promise<TenantWords | null>): Promise<TenantWords | null>;
  /** Forgets a tenant, and what is being collected of it. */
  drop(tenantId: string): void;
  /** Forgets all; each is collected anew when it is asked for. */
  dropAll(): void;
  /** Resolves when nothing is being collected. */
  idle(): Promise<void>;
};

export function createVocabularies(): Vocabularies {
  const kept = new LRUCache<string, Kept>({
    max: tenantsMax,
    maxSize: sizeMax,
    // By the machine's clock, so that they leave memory when nobody asks again.
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
    // Nobody may be waiting for it any more.
    building.catch(() => undefined);
    builds.set(tenantId, building);
    return building;

    async function finish(): Promise<TenantWords | null> {
      try {
        const words = await collect();
        // Threat: words of a tenant that was dropped meanwhile.
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
