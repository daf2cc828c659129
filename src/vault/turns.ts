import type { Steps } from '../domain/steps.js';

/**
 * How long a request computes before others may run, ms. A get waits about four times, and may wait for one slice
 * each time.
 */
const sliceMs = 1;
/** How long all requests that begin in one turn of the event loop may compute in it together, ms. The others wait. */
const beginMs = 4;
/**
 * While another tenant sends requests, long work pauses for this many times the length of its last slice, at most
 * `restMsMax`.
 */
const restFactor = 4;
const restMsMax = 100;
/** How long after its last request a tenant counts as sending requests, ms. */
const activeMs = 1_000;

/**
 * Shares the thread that serves requests between tenants. Work that takes longer than a slice waits for its turn before
 * each further slice. One slice runs per turn of the event loop, so everything else that is ready runs in between.
 * Tenants take turns, however many requests each has. While several tenants send requests, long work gets a fifth of
 * the thread, so that a short request seldom has to wait for a slice.
 */
export type Turns = {
  /**
   * Begins the work of a request. Its first slice begins now, unless requests that began just before used up the
   * time.
   */
  begin(tenantId: string): Work;
  /** Resolves when it is the tenant's turn. Await it before work that takes longer than a slice and cannot pause. */
  turn(tenantId: string): Promise<void>;
};

/** The computation of one request. */
export type Work = {
  /**
   * Resolves when the request may continue: at once while its slice lasts. Await it between pieces of work of unknown
   * size.
   */
  pause(): Promise<void> | undefined;
  /** Runs a computation to its end, one slice at a time. */
  run<T>(steps: Steps<T>): Promise<T>;
};

export function createTurns(): Turns {
  /** The waiting tenants in the order of their turns, with the functions that continue their requests. */
  const waiting = new Map<string, (() => void)[]>();

  /** Whether `next` is about to run. */
  let isScheduled = false;
  let last = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  let otherAt = Number.NEGATIVE_INFINITY;
  /** The time from which requests that begin in this turn of the event loop must wait; null: none has begun yet. */
  let beginEndsAt: number | null = null;

  /** Threat: 64 requests that arrive together would each compute a slice before anything else runs. */
  function firstSliceEnd(): number {
    const now = performance.now();
    if (beginEndsAt === null) {
      beginEndsAt = now + beginMs;
      setImmediate(() => {
        beginEndsAt = null;
      });
    }
    return Math.min(now + sliceMs, beginEndsAt);
  }

  function noteRequest(tenantId: string): void {
    if (tenantId !== last) {
      otherAt = lastAt;
      last = tenantId;
    }
    lastAt = performance.now();
  }

  /** Resumes one request, and schedules the next once its slice is over. */
  function next(): void {
    isScheduled = false;
    const [first] = waiting;
    if (first === undefined) return;
    const began = performance.now();
    const [tenantId, requests] = first;
    waiting.delete(tenantId);
    requests.shift()?.();
    // Queues it behind all others.
    if (requests.length > 0) waiting.set(tenantId, requests);
    isScheduled = true;
    setImmediate(() => {
      const now = performance.now();
      const tookMs = now - began;
      if (tookMs <= sliceMs || now - otherAt >= activeMs) next();
      else setTimeout(next, Math.min(restMsMax, restFactor * tookMs));
    });
  }

  function turnOf(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      if (!isScheduled) setImmediate(next);
      isScheduled = true;
      const requests = waiting.get(tenantId);
      if (requests === undefined) waiting.set(tenantId, [resolve]);
      else requests.push(resolve);
    });
  }

  return {
    turn: turnOf,
    begin(tenantId) {
      noteRequest(tenantId);
      let endsAt = firstSliceEnd();

      async function nextSlice(): Promise<void> {
        await turnOf(tenantId);
        endsAt = performance.now() + sliceMs;
      }

      return {
        pause: () => (performance.now() < endsAt ? undefined : nextSlice()),
        async run(steps) {
          for (;;) {
            if (performance.now() >= endsAt) await nextSlice();
            const step = steps.next();
            if (step.done === true) return step.value;
          }
        },
      };
    },
  };
}
