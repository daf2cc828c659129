import type { Steps } from '../domain/steps.js';
import type { Maybe } from '../ports/maybe.js';

/**
 * How long a request computes before others may run, ms. A get waits about four times, for one slice each time at
 * worst.
 */
const sliceMs = 1;
/**
 * How long all requests that begin in the same turn of the event loop may compute there together, ms: while one tenant
 * is alone, and while several send requests. The others wait.
 */
const beginMs = { alone: 4, shared: 2 };
/**
 * While another tenant sends requests, all long work rests for this many times the length of the last slice, up to
 * `restMsMax`. Requests that wait to begin do not rest.
 */
const restFactor = 4;
const restMsMax = 100;
/** How long after its last request a tenant counts as sending requests, ms. */
const activeMs = 1_000;

/**
 * Shares the thread that serves requests between tenants. Work that takes longer than a slice waits for its turn before
 * each further slice. One slice runs per turn of the event loop, so everything else that is ready runs in between.
 * Tenants take turns, however many requests each has. While several tenants send requests, long work gets a fifth of
 * the thread, so that a short request seldom has to wait for a slice. While one tenant is alone, as many of its
 * requests begin in each turn of the event loop as time allows, in their order.
 */
export type Turns = {
  /**
   * Begins the work of a request. Its first slice begins now, unless requests that began just before have used up the
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
  /** Runs a computation to its end, one slice at a time. Returns its result at once if the slice suffices. */
  run<T>(steps: Steps<T>): Maybe<T>;
};

/** Short work has not computed anything yet, as far as is known. */
type Kind = 'short' | 'long';

/** What waits, of one tenant. */
type Queue = { readonly short: (() => void)[]; readonly long: (() => void)[]; wasShort: boolean };

export function createTurns(): Turns {
  /** By tenant, in the order of the tenants' turns. */
  const waiting = new Map<string, Queue>();
  /** Whether `resume` is about to run. */
  let isScheduled = false;
  /** Until when long work rests. */
  let restsUntil = Number.NEGATIVE_INFINITY;
  /** Whether a timer will schedule long work at the end of its rest. */
  let isTimed = false;
  let last = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  let otherAt = Number.NEGATIVE_INFINITY;
  /** The time from which requests that begin in this turn of the event loop must wait; null if none has begun yet. */
  let beginEndsAt: number | null = null;

  /** Threat: 64 requests that arrive together would each compute a slice before anything else runs. */
  function timeToBegin(): number {
    if (beginEndsAt === null) {
      beginEndsAt = performance.now() + (isShared() ? beginMs.shared : beginMs.alone);
      setImmediate(() => {
        beginEndsAt = null;
      });
    }
    return beginEndsAt;
  }

  function noteRequest(tenantId: string): void {
    if (tenantId !== last) {
      otherAt = lastAt;
      last = tenantId;
    }
    lastAt = performance.now();
  }

  function isShared(): boolean {
    return waiting.size > 1 || performance.now() - otherAt < activeMs;
  }

  function isResting(): boolean {
    return performance.now() < restsUntil && isShared();
  }

  /** Returns whether anything may be resumed. If all that waits rests, a timer resumes it at the end of its rest. */
  function isReady(): boolean {
    if (waiting.size === 0) return false;
    if (!isResting() || [...waiting.values()].some(({ short }) => short.length > 0)) return true;
    if (!isTimed) setTimeout(endRest, restsUntil - performance.now());
    isTimed = true;
    return false;
  }

  function schedule(): void {
    if (isScheduled || !isReady()) return;
    isScheduled = true;
    setImmediate(resume);
  }

  function endRest(): void {
    isTimed = false;
    schedule();
  }

  /** Resumes what may run in this turn of the event loop, and schedules the next. */
  async function resume(): Promise<void> {
    const began = performance.now();
    const resumed = isShared() ? resumeNext() : await resumeAlone();
    setImmediate(() => {
      const now = performance.now();
      const tookMs = now - began;
      if (resumed === 'long' && tookMs > sliceMs) restsUntil = now + Math.min(restMsMax, restFactor * tookMs);
      isScheduled = isReady();
      if (isScheduled) void resume();
    });
  }

  /**
   * Resumes one request of the tenant whose turn it is, alternating between its short and its long work. While long
   * work rests, tenants that have nothing else are passed over.
   */
  function resumeNext(): Kind {
    const mayBeLong = !isResting();
    for (const [tenantId, queue] of waiting) {
      const { short, long } = queue;
      if (short.length === 0 && !mayBeLong) continue;
      const kind = short.length > 0 && !(mayBeLong && long.length > 0 && queue.wasShort) ? 'short' : 'long';
      queue.wasShort = kind === 'short';
      // Queues the tenant behind all others.
      waiting.delete(tenantId);
      const next = queue[kind].shift();
      if (short.length + long.length > 0) waiting.set(tenantId, queue);
      next?.();
      return kind;
    }
    return 'short';
  }

  /** Resumes short work while there is time to begin, then one slice of long work. */
  async function resumeAlone(): Promise<Kind> {
    const endsAt = timeToBegin();
    for (const [tenantId, { short, long }] of waiting) {
      do {
        short.shift()?.();
        await computed();
      } while (short.length > 0 && performance.now() < endsAt);
      const next = long.shift();
      if (short.length + long.length === 0) waiting.delete(tenantId);
      next?.();
      return next === undefined ? 'short' : 'long';
    }
    return 'short';
  }

  function turnOf(tenantId: string, kind: Kind): Promise<void> {
    return new Promise((resolve) => {
      const queue = waiting.get(tenantId) ?? { short: [], long: [], wasShort: false };
      queue[kind].push(resolve);
      waiting.set(tenantId, queue);
      schedule();
    });
  }

  return {
    turn: (tenantId) => turnOf(tenantId, 'long'),
    begin(tenantId) {
      noteRequest(tenantId);
      let isShort = true;
      // No request overtakes an earlier one of the same tenant that waits to begin.
      const mustWait = (waiting.get(tenantId)?.short.length ?? 0) > 0;
      let endsAt = mustWait ? Number.NEGATIVE_INFINITY : Math.min(performance.now() + sliceMs, timeToBegin());

      async function nextSlice(): Promise<void> {
        await turnOf(tenantId, isShort ? 'short' : 'long');
        isShort = false;
        endsAt = performance.now() + sliceMs;
      }

      async function runSlices<T>(steps: Steps<T>): Promise<T> {
        for (;;) {
          if (performance.now() >= endsAt) await nextSlice();
          const step = steps.next();
          if (step.done === true) return step.value;
        }
      }

      return {
        pause: () => (performance.now() < endsAt ? undefined : nextSlice()),
        run(steps) {
          while (performance.now() < endsAt) {
            const step = steps.next();
            if (step.done === true) return step.value;
          }
          return runSlices(steps);
        },
      };
    },
  };
}

/** Resolves when everything that was resumed has computed until it waits for something else. */
function computed(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
