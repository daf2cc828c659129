import type { AccessRequest, StoreRequest } from './access-operations.js';
import { isOfAccess } from './access-operations.js';
import type { WriterRequest } from './protocol.js';

/**
 * How many entries of the access log are written in one transaction, together with the rest of the request that passes
 * the limit. They take about 1 ms.
 */
const entriesAtOnce = 24;
/** How long a group of requests of several tenants may take before its commit, ms. */
const groupMs = 2;

/**
 * Holds the requests that wait for the thread that writes. Tenants take turns, however many requests each has waiting.
 * Threat: one tenant sends so many writes or reads that every commit of another tenant waits for all of them.
 */
export function createRequestQueue(
  isOfKeys: (request: StoreRequest) => boolean,
  now: () => number = () => performance.now(),
) {
  let access: AccessRequest[] = [];
  let keys: StoreRequest[] = [];
  let truncations: StoreRequest[] = [];
  /** The requests to `vault.db` by tenant, in the order of the tenants' turns. */
  const vault = new Map<string, StoreRequest[]>();

  function add(request: WriterRequest): void {
    if (isOfAccess(request)) access.push(request);
    else if (isOfKeys(request)) keys.push(request);
    else if (request.operation === 'truncate_vault') truncations.push(request);
    else {
      const tenant = tenantOf(request);
      const waiting = vault.get(tenant);
      if (waiting === undefined) vault.set(tenant, [request]);
      else waiting.push(request);
    }
  }

  return {
    add,
    isEmpty: (): boolean => access.length + keys.length + truncations.length + vault.size === 0,
    /** Takes requests to the access log, up to a limited number of entries. */
    takeAccess(): readonly AccessRequest[] {
      let entries = 0;
      const end = access.findIndex((request) => {
        entries += request.operation === 'record_access' ? request.input.length : 1;
        return entries >= entriesAtOnce;
      });
      const taken = end === -1 ? access : access.slice(0, end + 1);
      access = end === -1 ? [] : access.slice(end + 1);
      return taken;
    },
    takeKeys(): readonly StoreRequest[] {
      const taken = keys;
      keys = [];
      return taken;
    },
    takeTruncations(): readonly StoreRequest[] {
      const taken = truncations;
      truncations = [];
      return taken;
    },
    /**
     * Takes the requests of one group to `vault.db`, one after the other. Calls `receive` now and then, which may add
     * requests. While only one tenant sends requests, the group is everything that waits. Otherwise, it ends after 2 ms.
     */
    *takeGroup(receive: () => void): Generator<StoreRequest> {
      const began = now();
      let receivedAt = began;
      let last: string | null = null;
      let isShared = vault.size > 1;
      for (let [first] = vault; first !== undefined; [first] = vault) {
        if (isShared && now() - began >= groupMs) return;
        const [tenant, waiting] = first;
        isShared ||= last !== null && last !== tenant;
        last = tenant;
        const request = waiting.shift();
        if (request !== undefined) yield request;
        const at = now();
        if (at - receivedAt >= groupMs / 2) {
          receive();
          receivedAt = at;
        }
        // The tenant queues behind all others, also those that were just received.
        vault.delete(tenant);
        if (waiting.length > 0) vault.set(tenant, waiting);
      }
    },
  };
}

/** Requests that belong to no tenant take turns as one more. */
function tenantOf(request: StoreRequest): string {
  if (request.operation !== 'commit') return '';
  return request.input.tenantId ?? '';
}
