import { setTimeout as wait } from 'node:timers/promises';
import type { KeyRing } from '../../keys/key-ring.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog } from '../../ports/event-log.js';
import type { Generations, Rebuild, RebuildOutcome, RebuildRate } from '../../ports/generations.js';
import type { BuiltPage, RebuildThread, TwoGenerations } from '../../ports/rebuild-thread.js';
import { StoreUnavailable, type WaitsFor } from '../../ports/store-unavailable.js';
import { KeyLost } from '../../vault/key-lost.js';
import { compareGenerations } from './compare-generations.js';

/**
 * How long a service keeps the old rows after a rebuild, in ms. A search that began before the switch to the new rows
 * still needs the old rows.
 */
export const keptRowsMs = 60_000;
/** The number of events per page of the log. */
const eventsAtOnce = 400;
const rowsAtOnce = 100;
const retryMs = 1_000;
const examplesMax = 10;

type TokenRebuildDeps = {
  readonly generations: Generations;
  readonly keys: Pick<KeyRing, 'createGeneration' | 'generations' | 'destroyGeneration'>;
  readonly log: Pick<EventLog, 'head'>;
  readonly clock: Clock;
  /** The version of the token rows built by this program. */
  readonly version: number;
  /** How long, in ms, the old generation is kept for searches that are still running. */
  readonly graceMs: number;
  /** Starts the thread that builds rows. Throws StoreUnavailable if another process is running the rebuild. */
  readonly openThread: () => Promise<TokenThread>;
  /** Resolves to true if another process is running the rebuild. */
  readonly isElsewhere: () => Promise<boolean>;
  readonly onError: (error: unknown) => void;
};

type TokenThread = Omit<RebuildThread, 'directory'>;

export type TokenRebuild = ReturnType<typeof createTokenRebuild>;

/**
 * Builds a new generation of token rows from the log, while reads use the old generation. After that, switches to the
 * new generation (docs/design.md, "Rebuild"). Records each step in the stores, so that `resume` can continue the
 * rebuild after a crash.
 */
export function createTokenRebuild(deps: TokenRebuildDeps) {
  const { generations, keys, log, clock, version, graceMs, openThread, isElsewhere, onError } = deps;
  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  /** The generation whose rebuild this process has canceled. */
  let cancelled: number | null = null;
  let isWanted = false;
  let running: Promise<void> | null = null;
  let waitsFor: WaitsFor | null = null;

  /** Starts the work. If the work is already running, starts it again after the current run. */
  function run(): void {
    isWanted = true;
    running ??= (async () => {
      while (isWanted) {
        isWanted = false;
        await work();
      }
      running = null;
    })();
  }

  async function work(): Promise<void> {
    let thread: AheadThread | null = null;
    let failures = 0;
    const count = createRate();
    try {
      for (let next = await current(); next !== null && !stopped.aborted; ) {
        const rebuild: Rebuild = next;
        try {
          if (thread === null) {
            thread = readingAhead(await openThread());
            // Reads the state again, because a different process may have been running the rebuild until now.
            next = await current();
          } else {
            next = await step(rebuild, thread, count);
            failures = 0;
            waitsFor = null;
          }
        } catch (error) {
          if (error instanceof StoreUnavailable) {
            await waitFor(error);
          } else {
            failures += 1;
            if (failures > 1) next = await failed(rebuild, error);
          }
          // Closes the thread, because the keys may have been rotated after it started. The next step starts a new
          // thread.
          await thread?.close();
          thread = null;
        }
      }
    } catch (error) {
      if (!stopped.aborted) onError(error);
    } finally {
      waitsFor = null;
      await thread?.close();
    }
  }

  async function failed(rebuild: Rebuild, error: unknown): Promise<Rebuild> {
    // In these two phases, nothing is dropped here. The next `start` or `resume` removes the rows that are not in use.
    if (rebuild.phase === 'keeping' || rebuild.phase === 'dropping') throw error;
    onError(error);
    try {
      if (!(error instanceof KeyLost)) return await drop(rebuild, 'failed');
      return await drop({ ...rebuild, different: 1, examples: [error.stream] }, 'key_lost');
    } catch (thrown) {
      if (!(thrown instanceof StoreUnavailable)) throw thrown;
      // The rebuild goes on. If its next step fails too, it is dropped then.
      await waitFor(thrown);
      return rebuild;
    }
  }

  async function waitFor({ store, reason }: StoreUnavailable): Promise<void> {
    waitsFor = { store, reason };
    await pause(retryMs);
  }

  /** Returns the unfinished rebuild, or null if every rebuild has finished. */
  async function current(): Promise<Rebuild | null> {
    const rebuild = await generations.rebuild();
    return rebuild === null || rebuild.phase === 'ended' ? null : rebuild;
  }

  /** Runs one step, and returns the state of the rebuild after that step. Returns null if the rebuild has ended. */
  async function step(rebuild: Rebuild, thread: AheadThread, count: Count): Promise<Rebuild | null> {
    if (rebuild.phase === 'keeping' || rebuild.phase === 'dropping') {
      // These phases can take a long time. Threat: an attacker who reads the memory of this process during that time
      // finds the root key that was in use before a rotation. The thread therefore forgets its keys first.
      await thread.forgetKeys();
      if (rebuild.phase === 'dropping') return endOf(rebuild);
      await pause(graceLeft(rebuild));
      return stopped.aborted ? rebuild : drop(rebuild, 'done');
    }
    if (await isCancelled(rebuild)) return drop(rebuild, 'cancelled');
    if (rebuild.phase === 'comparing') return compared(rebuild, thread, count);
    return built(rebuild, thread, count);
  }

  /**
   * Returns how much longer the old generation is kept, in ms. Counts from the switch, so that a process that is
   * restarted again and again still drops it.
   */
  function graceLeft({ swappedAt }: Rebuild): number {
    const now = clock.now();
    return Math.min(graceMs, Math.max(0, (swappedAt ?? now) + graceMs - now));
  }

  /**
   * Returns true if the rebuild was canceled. Also checks the stores, because another process may have requested the
   * cancellation.
   */
  async function isCancelled({ generation }: Rebuild): Promise<boolean> {
    return cancelled === generation || (await generations.isCancelAsked(generation));
  }

  async function built(rebuild: Rebuild, thread: AheadThread, count: Count): Promise<Rebuild> {
    const page = await thread.build(rebuild, rebuild.position, eventsAtOnce);
    // The next page is built in advance only if this page is full. If it is not full, it ends at the head of the log.
    // In that case, the next page must be read only after these rows are stored.
    if (page.events === eventsAtOnce) thread.buildAhead(rebuild, page.position, eventsAtOnce);
    for (let first = 0; first < page.rows.length; first += rowsAtOnce) {
      await generations.put(rebuild.generation, page.rows.slice(first, first + rowsAtOnce));
      if (cancelled === rebuild.generation || stopped.aborted) return rebuild;
    }
    const rate = count(page.events, page.position);
    const head = await log.head();
    // Under load, there is always another event, so this phase ends at the first page that is not full.
    const phase = page.events < eventsAtOnce && rebuild.phase === 'building' ? 'comparing' : rebuild.phase;
    const next = { ...rebuild, phase, position: page.position, head, rate } as const;
    await generations.save(next);
    return next;
  }

  async function compared(rebuild: Rebuild, thread: AheadThread, count: Count): Promise<Rebuild> {
    let latest = rebuild;
    const goesOn = async (): Promise<boolean> => !stopped.aborted && !(await isCancelled(rebuild));
    const caughtUp = async (): Promise<void> => {
      // Later events do not count, because under load there is always another one.
      const head = await log.head();
      for (let from = -1; from !== latest.position && latest.position < head && (await goesOn()); ) {
        from = latest.position;
        latest = await built(latest, thread, count);
      }
    };
    await caughtUp();
    const different = await compareGenerations(thread, rebuild, caughtUp, goesOn);
    if (different === null) return latest;
    latest = { ...latest, different: different.length, examples: different.slice(0, examplesMax) };
    if (different.length > 0 && !latest.acceptNew) return drop(latest, 'different');
    for (;;) {
      await caughtUp();
      if (!(await goesOn())) return latest;
      const swapped = { ...latest, phase: 'keeping', swappedAt: clock.now() } as const;
      if (await generations.swap(swapped, version)) return swapped;
    }
  }

  async function drop(rebuild: Rebuild, outcome: RebuildOutcome): Promise<Rebuild> {
    const dropping = { ...rebuild, phase: 'dropping', outcome } as const;
    await generations.save(dropping);
    return dropping;
  }

  async function endOf(rebuild: Rebuild): Promise<Rebuild | null> {
    const goes = rebuild.outcome === 'done' ? rebuild.from : rebuild.generation;
    await generations.leave(goes);
    while (!(await generations.empty(goes))) if (stopped.aborted) return rebuild;
    // A process may have been killed after it created a generation and before the rebuild began. Such a generation is
    // also retired here.
    const unused = await generations.retire(await keys.generations());
    for (const generation of unused) await keys.destroyGeneration(generation);
    await generations.end(rebuild.outcome === 'cancelled' ? null : { ...rebuild, phase: 'ended' });
    return null;
  }

  /**
   * Returns the generation that is used for reads. Threat: an attacker adds a generation, and marks it as the one that
   * is used. The vault has no key for such a generation, so another one that is written and has a key comes first.
   */
  async function authenticRead(): Promise<number> {
    const { read, write } = await generations.inUse();
    const known = await keys.generations();
    return [read, ...write].find((generation) => known.includes(generation)) ?? read;
  }

  async function pause(ms: number): Promise<void> {
    await wait(ms, null, { signal: stopped }).catch(() => undefined);
  }

  return {
    /**
     * Starts a rebuild in the background, or resumes an unfinished rebuild that no process is running. Returns `busy`
     * if a rebuild is already running.
     */
    async start(acceptNew: boolean): Promise<'started' | 'resumed' | 'busy'> {
      const unfinished = await current();
      if (unfinished !== null) {
        if (running !== null || (await isElsewhere())) return 'busy';
        if (acceptNew && !unfinished.acceptNew) await generations.save({ ...unfinished, acceptNew });
        run();
        return 'resumed';
      }
      const from = await authenticRead();
      const generation = await keys.createGeneration();
      const begun = await generations.begin({
        generation,
        from,
        phase: 'building',
        position: 0,
        head: await log.head(),
        startedAt: clock.now(),
        swappedAt: null,
        acceptNew,
        outcome: null,
        different: 0,
        examples: [],
        rate: null,
      });
      if (begun) run();
      else await keys.destroyGeneration(generation);
      return begun ? 'started' : 'busy';
    },
    /** Resumes the unfinished rebuild. Does nothing if no rebuild was left unfinished. */
    async resume(): Promise<void> {
      if ((await current()) !== null) run();
    },
    /**
     * Cancels a rebuild, and resolves when all new rows are removed. Returns `too_late` if the new rows are already in
     * use.
     */
    async cancel(): Promise<'cancelled' | 'too_late' | 'none'> {
      const rebuild = await current();
      if (rebuild === null) return 'none';
      if (rebuild.phase === 'keeping' || rebuild.outcome === 'done') return 'too_late';
      cancelled = rebuild.generation;
      await generations.askCancel(rebuild.generation);
      run();
      await running;
      const last = await generations.rebuild();
      return last === null || (last.outcome !== 'done' && last.phase !== 'keeping') ? 'cancelled' : 'too_late';
    },
    /** Returns the store that the rebuild in this process waits for, or null. */
    waitsFor: (): WaitsFor | null => waitsFor,
    /** Resolves when no rebuild is running in this process. */
    idle: async (): Promise<void> => void (await running),
    /** Stops after the current step. `resume` continues the rebuild later. */
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}

type AheadThread = ReturnType<typeof readingAhead>;

/** Wraps a thread so that it can build the next page while the rows of the previous page are being stored. */
function readingAhead(thread: TokenThread) {
  let ahead: { readonly after: number; readonly page: Promise<BuiltPage> } | null = null;
  return {
    ...thread,
    build(generations: TwoGenerations, after: number, limit: number): Promise<BuiltPage> {
      const begun = ahead?.after === after ? ahead.page : thread.build(generations, after, limit);
      ahead = null;
      return begun;
    },
    /**
     * Starts to build the page that the next call to `build` returns. If building the page fails, that call throws the
     * error.
     */
    buildAhead(generations: TwoGenerations, after: number, limit: number): void {
      const page = thread.build(generations, after, limit);
      page.catch(() => undefined);
      ahead = { after, page };
    },
  };
}

type Count = (events: number, position: number) => RebuildRate;

/** Returns a function that counts processed events. Each call returns the rate since `createRate` was called. */
function createRate() {
  const startedAt = performance.now();
  let first: number | null = null;
  let counted = 0;
  return (events: number, position: number): RebuildRate => {
    first ??= position;
    counted += events;
    const seconds = (performance.now() - startedAt) / 1_000;
    return {
      events: counted,
      eventsPerSecond: counted / seconds,
      positionsPerSecond: (position - first) / seconds,
    };
  };
}
