import type { AccessRequest, RecordRequest, StoreRequest, WriterRequest } from './protocol.js';

/**
 * The approximate number of access log entries that one transaction adds to the journal, which takes about 1 ms. If a
 * request exceeds this number, all of its entries are still added.
 */
const entriesAtOnce = 500;
/** How long a group of requests from several tenants may run before its commit, in ms. */
const groupMs = 2;

/**
 * Queues the requests for the writer thread. Tenants take turns, no matter how many requests are waiting for each of
 * them. Threat: one tenant sends so many requests that every commit for another tenant has to wait for all of them.
 */
export function createRequestQueue(
  isOfKeys: (request: StoreRequest) => boolean,
  now: () => number = () => performance.now(),
) {
  let records: RecordRequest[] = [];
  let moves: Exclude<AccessRequest, RecordRequest>[] = [];
  let keys: StoreRequest[] = [];
  let truncations: StoreRequest[] = [];
  /** The requests to `vault.db`, by tenant, in the order in which the tenants take turns. */
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
    /** Returns true if no requests are waiting. If `holdsRecords` is true, ignores access records. */
    isEmpty: (holdsRecords = false): boolean =>
      (holdsRecords ? 0 : records.length) + moves.length + keys.length + truncations.length + vault.size === 0,
    hasRecords: (): boolean => records.length > 0,
    /** Takes access records from the queue until they have `entriesMax` entries. */
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
     * Takes the requests for one group to `vault.db`, one after the other. Calls `receive` from time to time, which may
     * add requests. As long as only one tenant sends requests, the group contains all waiting requests. If several
     * tenants send requests, or if access records are waiting for the commit, the group ends after 2 ms.
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
        // Moves the tenant behind all others, including tenants whose requests were just received.
        vault.delete(tenant);
        if (waiting.length > 0) vault.set(tenant, waiting);
      }
    },
  };
}

/**
 * Returns the tenant of a request. All requests without a tenant share one turn, as if they came from one additional
 * tenant.
 */
function tenantOf(request: StoreRequest): string {
  if (request.operation !== 'commit') return '';
  return request.input.tenantId ?? '';
}
