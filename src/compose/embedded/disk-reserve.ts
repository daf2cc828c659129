import { statfsSync } from 'node:fs';
import type { EventType } from '../../events/event.js';
import type { KeyRing } from '../../keys/key-ring.js';
import type { Generations } from '../../ports/generations.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { UnitOfWork } from '../../ports/unit-of-work.js';

export const reserveBytesDefault = 256 * 1024 * 1024;
/** The maximum fraction of the disk that the reserve may occupy. It limits the reserve on a small disk. */
const reserveShare = 1 / 20;
const lookEveryMs = 100;

/**
 * Whether an event must be stored even if the disk is full. This is the case for fences, checkpoints, and events that
 * delete, expire or revoke something.
 */
const alwaysStored: Readonly<Record<string, boolean>> = {
  'token.created': false,
  'token.updated': false,
  'token.deleted': true,
  'token.expired': true,
  'token.property.expired': true,
  'token.fenced': true,
  'tenant.created': false,
  'tenant.updated': false,
  'tenant.deleted': true,
  'tenant.fenced': true,
  'application.created': false,
  'application.updated': false,
  'application.deleted': true,
  'application.key.issued': false,
  'application.key.revoked': true,
  'webhook.created': false,
  'webhook.updated': false,
  'webhook.deleted': true,
  'audit.checkpoint': true,
  'log.opened': false,
} satisfies Record<EventType, boolean>;

/** Returns how much of the disk under the data directory is free, and how much is reserved. */
export function diskSpace(
  dataDir: string,
  reserveBytes: number,
): { readonly freeBytes: number; readonly reservedBytes: number } {
  const { bavail, blocks, bsize } = statfsSync(dataDir);
  return { freeBytes: bavail * bsize, reservedBytes: Math.min(reserveBytes, blocks * bsize * reserveShare) };
}

/**
 * Reserves the last part of the disk for writes that must not fail: deletions, expiries, and the access log records
 * required for every reveal. While the free space is smaller than the reserve, the vault rejects every other write as
 * if the disk were full. The free space is read at most ten times per second. Other programs can still use up the
 * reserve.
 */
export function diskReserve(dataDir: string, reserveBytes: number) {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isLow = false;

  function expectRoom(store: string): void {
    if (performance.now() - lookedAt >= lookEveryMs) {
      lookedAt = performance.now();
      const { freeBytes, reservedBytes } = diskSpace(dataDir, reserveBytes);
      isLow = freeBytes < reservedBytes;
    }
    if (isLow) throw new StoreUnavailable(store, 'full');
  }

  return {
    /**
     * Wraps a unit of work. While the free space is smaller than the reserve, the wrapped unit stores only the events
     * that `alwaysStored` allows.
     */
    guardWork: (work: UnitOfWork): UnitOfWork => ({
      ...work,
      async commit(change) {
        const isEssential = change.writes.every(({ events }) =>
          events.every(({ type }) => alwaysStored[type] === true),
        );
        if (!isEssential) expectRoom('vault.db');
        return work.commit(change);
      },
    }),
    /** Wraps a key ring. While the free space is smaller than the reserve, the wrapped key ring creates no new keys. */
    guardKeys: <K extends KeyRing>(keys: K): K => ({
      ...keys,
      async create(tenantId: string) {
        expectRoom('keys.db');
        return keys.create(tenantId);
      },
    }),
    /**
     * Wraps the generations. While the free space is smaller than the reserve, a rebuild writes no rows. It can still be
     * cancelled, which frees the space of its rows.
     */
    guardGenerations: (generations: Generations): Generations => ({
      ...generations,
      async put(generation, rows) {
        expectRoom('vault.db');
        return generations.put(generation, rows);
      },
    }),
  };
}
