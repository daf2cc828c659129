import { getHeapStatistics } from 'node:v8';
import { overloaded } from '../problem/problem.js';

const mib = 1024 * 1024;

/**
 * The memory for a page of tokens. It is enough for the first 512 KiB of tokens, which are decrypted before the first
 * byte of the page is sent, and for one more token that is being sent. Each token is in memory both as an object and as
 * text.
 */
export const pageMemoryBytes = 6 * mib;

/** The memory for a detokenize request with 8 MiB of values. The values are in memory both as objects and as text. */
export const detokenizeMemoryBytes = 24 * mib;

const memoryBytesMax = 256 * mib;
/** The maximum time in ms that a request waits for memory. */
const waitMsMax = 5_000;
/** If the used fraction of the heap exceeds this value, requests that need memory are rejected. */
const heapShareMax = 0.9;
/**
 * How long a heap measurement is reused, in ms. Measuring takes a few microseconds, and the heap grows little during
 * this time.
 */
const heapLookEveryMs = 5;

/**
 * The memory budget for requests with large bodies or responses. The budget is 256 MiB, or a quarter of the heap if
 * that is less. Each tenant gets at most a quarter of the budget. Even a tenant that does not read its responses
 * therefore leaves memory for other tenants.
 */
export type MemoryBudget = {
  /**
   * Resolves when enough memory is available for a request. Throws Problem 503 if the heap is nearly full, or if too
   * little memory becomes available within 5 s.
   */
  take(tenantId: string, bytes: number, isGone: () => boolean): Promise<void>;
  /** Counts the memory of a response that has already been produced. */
  add(tenantId: string, bytes: number): void;
  /** Releases memory counted by `take` or `add`. */
  give(tenantId: string, bytes: number): void;
  /**
   * Returns true if the tenant uses more than its share of the budget, or if all tenants together use more than the
   * budget.
   */
  isFull(tenantId: string): boolean;
};

type Waiting = { readonly bytes: number; readonly isGone: () => boolean; enter(): void };

export function createMemoryBudget(
  bytesMax = Math.min(memoryBytesMax, getHeapStatistics().heap_size_limit / 4),
): MemoryBudget {
  const tenantBytesMax = bytesMax / 4;
  const held = new Map<string, number>();
  const waiting = new Map<string, Waiting[]>();
  let total = 0;
  let heapLookedAt = Number.NEGATIVE_INFINITY;
  let heapIsFull = false;

  function isHeapFull(): boolean {
    const now = performance.now();
    if (now - heapLookedAt < heapLookEveryMs) return heapIsFull;
    heapLookedAt = now;
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    heapIsFull = used > heapShareMax * limit;
    return heapIsFull;
  }

  function fits(tenantId: string, bytes: number): boolean {
    const own = held.get(tenantId) ?? 0;
    // A request always fits if no other request uses memory. This is safe, because no single request uses more than a
    // fixed amount.
    return (own === 0 || own + bytes <= tenantBytesMax) && (total === 0 || total + bytes <= bytesMax);
  }

  function add(tenantId: string, bytes: number): void {
    total += bytes;
    held.set(tenantId, (held.get(tenantId) ?? 0) + bytes);
  }

  /** Admits waiting requests that fit, one per tenant. Each tenant's requests are admitted in order of arrival. */
  function admit(): void {
    for (const [tenantId, requests] of [...waiting]) {
      // Skips requests whose caller has disconnected. Such a request is rejected when its wait times out.
      while (requests[0]?.isGone() === true) requests.shift();
      const [first] = requests;
      if (first === undefined) waiting.delete(tenantId);
      if (first === undefined || !fits(tenantId, first.bytes)) continue;
      requests.shift();
      waiting.delete(tenantId);
      if (requests.length > 0) waiting.set(tenantId, requests);
      add(tenantId, first.bytes);
      first.enter();
    }
  }

  return {
    add,
    isFull: (tenantId) => (held.get(tenantId) ?? 0) > tenantBytesMax || total > bytesMax,
    give(tenantId, bytes) {
      total -= bytes;
      const left = (held.get(tenantId) ?? 0) - bytes;
      if (left > 0) held.set(tenantId, left);
      else held.delete(tenantId);
      if (waiting.size > 0) admit();
    },
    async take(tenantId, bytes, isGone) {
      if (isHeapFull()) throw overloaded();
      if (!waiting.has(tenantId) && fits(tenantId, bytes)) return add(tenantId, bytes);
      await new Promise<void>((resolve, reject) => {
        const requests = waiting.get(tenantId) ?? [];
        waiting.set(tenantId, requests);
        const tooLate = setTimeout(() => {
          const at = requests.indexOf(request);
          if (at >= 0) requests.splice(at, 1);
          if (requests.length === 0 && waiting.get(tenantId) === requests) waiting.delete(tenantId);
          reject(overloaded());
        }, waitMsMax);
        const request: Waiting = {
          bytes,
          isGone,
          enter() {
            clearTimeout(tooLate);
            resolve();
          },
        };
        requests.push(request);
      });
    },
  };
}
