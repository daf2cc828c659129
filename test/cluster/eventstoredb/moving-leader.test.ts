import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import type { NewEvent } from '#src/events/event.js';
import type { EventLog } from '#src/ports/event-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { anEvent, aStream } from '../../contract/support.js';
import { type StandInCluster, startStandInCluster } from '../../support/eventstoredb.js';
import { authenticated } from '../../support/integrity.js';
import { until } from '../../support/process.js';

// 32 writers append without a pause, while the cluster goes through all faults one after another. All writers share one
// client, which is never reopened. If an append fails because the store is unavailable, the writer retries the append,
// as a caller does after a 503.
const writerCount = 32;
const resumeMs = 5_000;

type Writer = {
  readonly stream: string;
  readonly acknowledged: NewEvent[];
  /** The time at which the last append was acknowledged. */
  lastAt: number;
  unavailable: number;
  /** Errors other than StoreUnavailable. A caller of the vault would get a 500 for such an error. */
  readonly failures: string[];
};

let cluster: StandInCluster;
let opened: Awaited<ReturnType<typeof openEventStoreDb>>;
let log: EventLog;
beforeAll(async () => {
  cluster = await startStandInCluster();
  opened = await openEventStoreDb(cluster.url);
  log = authenticated(opened.log);
});
afterAll(async () => {
  await opened?.close();
  await cluster.remove();
});

async function write(writer: Writer, isOver: () => boolean): Promise<void> {
  const { stream, acknowledged, failures } = writer;
  for (let events: NewEvent[] = []; !isOver(); ) {
    if (events.length === 0) events = acknowledged.length % 3 === 0 ? [anEvent(), anEvent()] : [anEvent()];
    try {
      const { outcome } = await log.append(stream, acknowledged.length - 1, events);
      if (outcome === 'conflict') {
        failures.push(`a conflict without another writer at ${acknowledged.length}`);
        return;
      }
      acknowledged.push(...events);
      writer.lastAt = performance.now();
      events = [];
    } catch (error) {
      if (error instanceof StoreUnavailable) writer.unavailable += 1;
      else failures.push(String(error));
      await wait(50);
    }
  }
}

/** Returns the indexes of the leader and of one follower. */
function roles(): { readonly leader: number; readonly follower: number } {
  const leader = cluster.leader() ?? 0;
  return { leader, follower: (leader + 1) % 3 };
}

/** Makes gossip report this node as the leader from now on. Returns the time of the change. */
function elect(leader: number, dead: readonly number[] = []): number {
  cluster.elect(leader, dead);
  return performance.now();
}

const signal = (node: number, name: 'SIGSTOP' | 'SIGCONT') => cluster.nodes[node]?.signal(name);
const kill = (node: number) => cluster.nodes[node]?.kill();
const start = (node: number) => cluster.nodes[node]?.start();

/**
 * Each fault returns the time at which gossip begins to report a reachable leader. `after` undoes the fault, and is
 * absent if there is nothing to undo.
 */
const faults: readonly {
  readonly what: string;
  readonly run: () => Promise<{ readonly electedAt: number; readonly after?: () => Promise<unknown> | undefined }>;
}[] = [
  {
    what: 'the leader is killed, and gossip names none for longer than ten discovery attempts',
    async run() {
      const { leader, follower } = roles();
      await kill(leader);
      await wait(800);
      cluster.elect(null, [leader]);
      await wait(4_000);
      return { electedAt: elect(follower, [leader]), after: () => start(leader) };
    },
  },
  {
    what: 'the leader is frozen for 20 s, and another leads after 7 s',
    async run() {
      const { leader, follower } = roles();
      signal(leader, 'SIGSTOP');
      await wait(7_000);
      const electedAt = elect(follower);
      return {
        electedAt,
        async after() {
          await wait(20_000 - 7_000 - resumeMs);
          signal(leader, 'SIGCONT');
        },
      };
    },
  },
  {
    what: 'the leader moves',
    async run() {
      return { electedAt: elect(roles().follower) };
    },
  },
  {
    what: 'a follower is killed',
    async run() {
      const { follower } = roles();
      await kill(follower);
      return { electedAt: performance.now(), after: () => start(follower) };
    },
  },
  {
    what: 'two of three are killed, and there is no leader for 6 s',
    async run() {
      const { leader, follower } = roles();
      await Promise.all([kill(leader), kill(follower)]);
      cluster.elect(null, [leader, follower]);
      await wait(6_000);
      await Promise.all([start(leader), start(follower)]);
      return { electedAt: elect(follower) };
    },
  },
  {
    what: 'the leader is frozen, and gossip still names it for 12 s after it was resumed and frozen again',
    async run() {
      const { leader, follower } = roles();
      signal(leader, 'SIGSTOP');
      await wait(3_000);
      signal(leader, 'SIGCONT');
      await wait(200);
      signal(leader, 'SIGSTOP');
      await wait(12_000);
      return { electedAt: elect(follower), after: async () => signal(leader, 'SIGCONT') };
    },
  },
  {
    what: 'the leader is killed and leads again after its restart',
    async run() {
      const { leader } = roles();
      await kill(leader);
      await wait(2_000);
      cluster.elect(null, [leader]);
      await start(leader);
      return { electedAt: elect(leader) };
    },
  },
  {
    what: 'the leader moves five times within a second',
    async run() {
      for (let time = 0; time < 4; time += 1) {
        elect(roles().follower);
        await wait(200);
      }
      return { electedAt: elect(roles().follower) };
    },
  },
];

test('32 writers lose nothing and duplicate nothing while the leader is killed, frozen and moved, and resume within 5 s', {
  timeout: 400_000,
}, async () => {
  let isOver = false;
  const writers = Array.from(
    { length: writerCount },
    (): Writer => ({ stream: aStream(), acknowledged: [], lastAt: 0, unavailable: 0, failures: [] }),
  );
  const running = writers.map((writer) => write(writer, () => isOver));
  const late: string[] = [];
  for (const { what, run } of faults) {
    await wait(1_000);
    const { electedAt, after } = await run();
    await until(`all writers after: ${what}`, 2 * resumeMs, () =>
      writers.every(({ lastAt }) => lastAt > electedAt) ? true : undefined,
    ).catch((error: unknown) => late.push(String(error)));
    const resumedMs = Math.max(...writers.map(({ lastAt }) => lastAt)) - electedAt;
    if (performance.now() - electedAt > resumeMs) late.push(`${what}: ${Math.round(resumedMs)} ms`);
    await after?.();
  }
  await wait(1_000);
  isOver = true;
  await Promise.all(running);

  expect(writers.flatMap(({ failures }) => failures)).toEqual([]);
  expect(late).toEqual([]);
  for (const { stream, acknowledged } of writers) {
    expect((await log.readStream(stream)).map(({ id }) => id)).toEqual(acknowledged.map(({ id }) => id));
  }
  const ids = writers.flatMap(({ acknowledged }) => acknowledged.map(({ id }) => id)).sort();
  expect(ids.length).toBeGreaterThan(writerCount * faults.length);
  expect((await log.readAll(0, ids.length + 1)).map(({ id }) => id).sort()).toEqual(ids);
});
