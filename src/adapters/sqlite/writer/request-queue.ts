import type { AccessRequest, RecordRequest, StoreRequest, WriterRequest } from './protocol.js';

/**
 * How many access log entries one transaction journals, which takes about 1 ms. The request that exceeds the limit is
 * journaled completely.
 */
const entriesAtOnce = 500;
/** How long a group of requests from several tenants may take before its commit, in ms. */
const groupMs = 2;

/**
 * Queues the requests for the writer thread. Tenants take turns, no matter how many requests each has waiting. Threat:
 * one tenant sends so many writes or reads that every commit for another tenant waits for all of them.
 */
export function createRequestQueue(
  isOfKeys: (request: StoreRequest) => boolean,
  now: () => number = () => performance.now(),
) {
  let records: RecordRequest[] = [];
  let moves: Exclude<AccessRequest, RecordRequest>[] = [];
  let keys: StoreRequest[] = [];
  let truncations: StoreRequest[] = [];
  /** The requests to `vault.db`, by tenant, in the order of the tenants' turns. */
  const vault = new Map<string, StoreRequest[]>();

  function add(request: WriterRequest): void {
    if (request.operation === 'record_access') records.push(request);
    else if (request.operation === 'move_access' || request.operation === 'drop_access') moves.push(request);
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
    /** Returns whether no requests are waiting. Ignores records if they are held. */
    isEmpty: (holdsRecords = false): boolean =>
      (holdsRecords ? 0 : records.length) + moves.length + keys.length + truncations.length + vault.size === 0,
    hasRecords: (): boolean => records.length > 0,
    /** Takes access records, up to a limited number of entries. */
    takeRecords(entriesMax = entriesAtOnce): readonly RecordRequest[] {
      let entries = 0;
      const end = records.findIndex((request) => {
        entries += request.input.entries;
        return entries >= entriesMax;
      });
      const taken = end === -1 ? records : records.slice(0, end + 1);
      records = end === -1 ? [] : records.slice(end + 1);
      return taken;
    },
    takeMoves(): readonly Exclude<AccessRequest, RecordRequest>[] {
      const taken = moves;
      moves = [];
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
     * Takes the requests for one group to `vault.db`, one after the other. Calls `receive` now and then, which may add
     * requests. While only one tenant sends requests, the group consists of all waiting requests. Otherwise, or if
     * access records wait for its commit, it ends after 2 ms.
     */
    *takeGroup(receive: () => void): Generator<StoreRequest> {
      const began = now();
      let receivedAt = began;
      let last: string | null = null;
      let isShared = vault.size > 1;
      for (let [first] = vault; first !== undefined; [first] = vault) {
        if ((isShared || records.length > 0) && now() - began >= groupMs) return;
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
        // The tenant queues behind all others, including tenants whose requests were just received.
        vault.delete(tenant);
        if (waiting.length > 0) vault.set(tenant, waiting);
      }
    },
  };
}

/** Returns a request's tenant. Requests without a tenant take turns as if they belonged to one more tenant. */
function tenantOf(request: StoreRequest): string {
  if (request.operation !== 'commit') return '';
  return request.input.tenantId ?? '';
}
