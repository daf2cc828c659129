import type { Steps } from '../domain/steps.js';
import type { Maybe } from '../ports/maybe.js';
import { createRecentTenants } from './recent-tenants.js';

/**
 * How long a request computes before other requests may run, in ms. A request for one token waits about four times, for
 * at most one slice each time.
 */
const sliceMs = 1;
/**
 * The limit, in ms, on the total computing time of the requests that begin in the same turn of the event loop. `alone`
 * applies while only one tenant sends requests, and `shared` while several tenants do. When the limit is reached, the
 * remaining requests wait.
 */
const beginMs = { alone: 4, shared: 2 };
/**
 * While several tenants send requests, all long computations pause whenever one of them has run for a slice. Requests
 * that are waiting to begin are not affected by this pause. After a slice of `sliceMs`, the pause lasts `restFactor`
 * times as long as the slice. The length of the pause grows with the square of the slice's length, because a longer
 * slice delays more requests and delays each of them for longer. A pause lasts at most `restMsMax`.
 */
const restFactor = 3;
const restMsMax = 100;

/**
 * Shares the thread that serves requests among tenants. Work that takes longer than one slice waits for its turn before
 * each additional slice. One slice runs per turn of the event loop, so everything else that is ready runs in between.
 * Tenants take turns, no matter how many requests each of them has. While several tenants send requests, long work gets
 * at most a quarter of the thread's time, so that a short request seldom has to wait for a slice. While only one tenant
 * sends requests, as many requests as time allows begin in each turn of the event loop, in order of arrival.
 */
export type Turns = {
  /**
   * Begins the work of a request. The first slice begins immediately, unless earlier requests have already used up the
   * time of this turn.
   */
  begin(tenantId: string): Slices;
  /** Resolves when it is the tenant's turn. Await this before work that takes longer than a slice and cannot pause. */
  turn(tenantId: string): Promise<void>;
};

/** The computation of one request. */
export type Slices = {
  /**
   * Resolves when the request may continue. Returns undefined while the slice lasts. Await this between pieces of work
   * of unknown size.
   */
  pause(): Promise<void> | undefined;
  /**
   * Runs a computation to completion, one slice at a time. Returns the result synchronously if the current slice is
   * long enough.
   */
  run<T>(steps: Steps<T>): Maybe<T>;
};

/** Work is `short` while it waits for its first slice, and `long` after that. */
type Kind = 'short' | 'long';

/** One tenant's waiting work. */
type Queue = { readonly short: (() => void)[]; readonly long: (() => void)[]; wasShort: boolean };

export function createTurns(): Turns {
  /** The waiting work of each tenant, in the order in which the tenants take turns. */
  const waiting = new Map<string, Queue>();
  /** True if `resume` is about to run. */
  let isScheduled = false;
  /** Long work pauses until this time. */
  let restsUntil = Number.NEGATIVE_INFINITY;
  /** True if a timer will schedule long work at the end of the pause. */
  let isTimed = false;
  const recent = createRecentTenants();
  /**
   * The time after which no more requests may begin in this turn of the event loop. Null if no request has begun in
   * this turn yet.
   */
  let beginEndsAt: number | null = null;

  /**
   * Returns the time after which no more requests may begin in this turn. Threat: a caller sends 64 requests at the
   * same time, and each of them computes for a slice before anything else runs.
   */
  function timeToBegin(): number {
    if (beginEndsAt === null) {
      beginEndsAt = performance.now() + (isShared() ? beginMs.shared : beginMs.alone);
      setImmediate(() => {
        beginEndsAt = null;
      });
    }
    return beginEndsAt;
  }

  /**
   * Returns true if several tenants send requests. A tenant with a waiting request counts, no matter how long ago it
   * sent that request. Threat: a tenant sends requests that take more than a second. If the tenant no longer counted
   * after a second, those requests would never pause.
   */
  function isShared(): boolean {
    if (waiting.size > 1 || recent.areSeveralActive()) return true;
    return [...waiting.keys()].some(recent.isAnotherActive);
  }

  function isResting(): boolean {
    return performance.now() < restsUntil && isShared();
  }

  /** Returns true if any work may be resumed. If all waiting work is pausing, sets a timer for the end of the pause. */
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

  /** Resumes the work that may run in this turn of the event loop, and schedules the next turn. */
  async function resume(): Promise<void> {
    const began = performance.now();
    const resumed = isShared() ? resumeNext() : await resumeAlone();
    setImmediate(() => {
      const now = performance.now();
      const tookMs = now - began;
      if (resumed === 'long' && tookMs > sliceMs)
        restsUntil = now + Math.min(restMsMax, (restFactor * tookMs ** 2) / sliceMs);
      isScheduled = isReady();
      if (isScheduled) void resume();
    });
  }

  /**
   * Resumes one request of the next tenant, and alternates between that tenant's short and long work. While long work
   * pauses, skips tenants that have only long work.
   */
  function resumeNext(): Kind {
    const mayBeLong = !isResting();
    for (const [tenantId, queue] of waiting) {
      const { short, long } = queue;
      if (short.length === 0 && !mayBeLong) continue;
      const kind = short.length > 0 && !(mayBeLong && long.length > 0 && queue.wasShort) ? 'short' : 'long';
      queue.wasShort = kind === 'short';
      // Moves the tenant to the end of the queue.
      waiting.delete(tenantId);
      const next = queue[kind].shift();
      if (short.length + long.length > 0) waiting.set(tenantId, queue);
      next?.();
      return kind;
    }
    return 'short';
  }

  /** Resumes short work as long as there is time for requests to begin. After that, resumes one slice of long work. */
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
      recent.note(tenantId);
      let isShort = true;
      // A request must not overtake an earlier request of the same tenant that is waiting to begin.
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

/** Resolves once all resumed work is done or is waiting for something else. */
function computed(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
