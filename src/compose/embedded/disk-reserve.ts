import { statfsSync } from 'node:fs';
import type { KeyRing } from '../../ports/key-ring.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { UnitOfWork } from '../../ports/unit-of-work.js';

export const reserveBytesDefault = 256 * 1024 * 1024;
/** On a small disk the reserve is this part of it. */
const reserveShare = 1 / 20;
const lookEveryMs = 100;

/** What ends something, and what proves the log: it must go on when nothing else does. */
const alwaysStored = new Set([
  ...['token.deleted', 'token.expired', 'token.property.expired', 'token.fenced'],
  ...['application.deleted', 'application.key.revoked', 'tenant.deleted', 'tenant.fenced', 'audit.checkpoint'],
]);

/**
 * Keeps the last of the disk for what must not fail: deletes, expiries, and the access-log records without which nothing is
 * revealed. Below the reserve everything else that is to be stored is rejected as on a full disk. Free space is read at most
 * ten times a second. Another program can still use the reserve up.
 */
export function diskReserve(dataDir: string, reserveBytes: number) {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isLow = false;

  function expectRoom(store: string): void {
    if (performance.now() - lookedAt >= lookEveryMs) {
      lookedAt = performance.now();
      isLow = freeBytes() < reservedBytes();
    }
    if (isLow) throw new StoreUnavailable(store, 'full');
  }

  function freeBytes(): number {
    const { bavail, bsize } = statfsSync(dataDir);
    return bavail * bsize;
  }

  function reservedBytes(): number {
    const { blocks, bsize } = statfsSync(dataDir);
    return Math.min(reserveBytes, blocks * bsize * reserveShare);
  }

  return {
    /** The same unit of work, which rejects with StoreUnavailable what the reserve is not for. */
    guardWork: (work: UnitOfWork): UnitOfWork => ({
      ...work,
      async commit(change) {
        const isEssential = change.writes.every(({ events }) => events.every(({ type }) => alwaysStored.has(type)));
        if (!isEssential) expectRoom('vault.db');
        return work.commit(change);
      },
    }),
    /** The same keys, of which no new one is made in the reserve. */
    guardKeys: <K extends KeyRing>(keys: K): K => ({
      ...keys,
      async create(tenantId: string) {
        expectRoom('keys.db');
        return keys.create(tenantId);
      },
    }),
  };
}
