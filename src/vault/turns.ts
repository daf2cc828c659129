import type { Steps } from '../domain/steps.js';

/** How long a request computes before others may go first, ms. A get has some four waits, and may meet one slice in each. */
const sliceMs = 1;
/** How long the requests that begin in one turn of the event loop compute together in it, ms. The rest of them wait. */
const beginMs = 4;
/** While another tenant sends requests, long work rests so many times as long as its last slice took, at most `restMsMax`. */
const restFactor = 2;
const restMsMax = 100;
/** A tenant counts as sending requests for so long after its last one, ms. */
const activeMs = 1_000;

/**
 * Shares the thread that serves requests between tenants. Work that takes longer than a slice waits for its turn before
 * each further slice: one slice runs in a turn of the event loop, so everything else that is ready comes between, and
 * tenants take turns whatever the number of their requests. While several tenants send requests, long work takes a third
 * of the thread, so that a short request seldom meets a slice.
 */
export type Turns = {
  /** Begins the work of a request. Its first slice begins now, unless others that began just before took the time. */
  begin(tenantId: string): Work;
};

/** The computing of one request. */
export type Work = {
  /**
   * Resolves when the request may go on: at once while its slice lasts. To be awaited between pieces of work of
   * unknown size.
   */
  pause(): Promise<void> | undefined;
  /** Runs a computation to its end, a slice at a time. */
  run<T>(steps: Steps<T>): Promise<T>;
};

export function createTurns(): Turns {
  /** The tenants that wait, the one whose turn is next first, with what continues their requests. */
  const waiting = new Map<string, (() => void)[]>();

  /** Whether `next` is about to run. */
  let isScheduled = false;
  let last = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  let otherAt = Number.NEGATIVE_INFINITY;
  /** When the requests that begin in this turn of the event loop must wait; null: none has begun yet. */
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
    // Behind all others.
    if (requests.length > 0) waiting.set(tenantId, requests);
    isScheduled = true;
    setImmediate(() => {
      const now = performance.now();
      if (now - otherAt >= activeMs) next();
      else setTimeout(next, Math.min(restMsMax, restFactor * (now - began)));
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
