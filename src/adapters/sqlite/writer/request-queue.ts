import type { AccessRequest, RecordRequest, StoreRequest, WriterRequest } from './protocol.js';

/**
 * The approximate number of access log entries that one transaction adds to the journal. Adding them takes about 1 ms.
 * A single request's entries are never split, even if their number exceeds this limit.
 */
const entriesAtOnce = 500;
/** How long a group with requests from several tenants can run before its commit, in ms. */
const groupMs = 2;

/**
 * Creates the queue of requests for the writer thread. Tenants take turns, no matter how many requests each of them has
 * queued. Threat: one tenant sends so many requests that all other tenants have to wait until the last of these
 * requests has been committed.
 */
export function createRequestQueue(
  isOfKeys: (request: StoreRequest) => boolean,
  now: () => number = () => performance.now(),
) {
  const records: RecordRequest[] = [];
  const lastRecords: RecordRequest[] = [];
  const moves: Exclude<AccessRequest, RecordRequest>[] = [];
  const keys: StoreRequest[] = [];
  const truncations: StoreRequest[] = [];
  /** The requests to `vault.db`, keyed by tenant. The order of the map is the order in which the tenants take turns. */
  const vault = new Map<string, StoreRequest[]>();

  function add(request: WriterRequest): void {
    if (request.operation === 'record_access') (request.input.isLast ? lastRecords : records).push(request);
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
    /** Returns true if no requests are waiting. If `holdsRecords` is true, waiting access records are ignored. */
    isEmpty: (holdsRecords = false): boolean =>
      (holdsRecords ? 0 : records.length) +
        lastRecords.length +
        moves.length +
        keys.length +
        truncations.length +
        vault.size ===
      0,
    hasRecords: (): boolean => records.length > 0,
    /** Removes access records from the queue and returns them. Stops once they contain `entriesMax` entries. */
    takeRecords(entriesMax = entriesAtOnce): readonly RecordRequest[] {
      let entries = 0;
      const end = records.findIndex((request) => {
        entries += request.input.entries;
        return entries >= entriesMax;
      });
      return records.splice(0, end === -1 ? records.length : end + 1);
    },
    /** Removes the access records of a process that ends from the queue and returns them. */
    takeLastRecords: () => lastRecords.splice(0),
    takeMoves: () => moves.splice(0),
    takeKeys: () => keys.splice(0),
    takeTruncations: () => truncations.splice(0),
    /**
     * Removes the requests for one `vault.db` group from the queue and returns them one by one. Calls `receive` at
     * intervals, so that new requests can join the queue. If only one tenant sends requests, the group contains all
     * waiting requests. If several tenants send requests, or if access records are waiting for the commit, the group
     * ends after 2 ms.
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
        // Moves this tenant to the end of the order, behind tenants whose requests have just been received.
        vault.delete(tenant);
        if (waiting.length > 0) vault.set(tenant, waiting);
      }
    },
  };
}

/**
 * Returns the tenant of a request. Requests without a tenant are treated as requests from one additional tenant, so
 * together they have one turn.
 */
function tenantOf(request: StoreRequest): string {
  if (request.operation !== 'commit') return '';
  return request.input.tenantId ?? '';
}
