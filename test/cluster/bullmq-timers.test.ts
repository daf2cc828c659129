import { randomBytes, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bullmqTimers, bullmqTimerWorker, soonMs } from '#src/adapters/bullmq/bullmq-timers.js';
import { bullmqWebhooks, bullmqWebhookWorker, type WebhookJob } from '#src/adapters/bullmq/bullmq-webhooks.js';
import { memoryRateLimits } from '#src/adapters/memory/memory-rate-limits.js';
import { openRedis } from '#src/compose/cluster/open-redis.js';
import type { Clock } from '#src/ports/clock.js';
import type { DueRow } from '#src/ports/token-rows.js';
import { manualClock } from '../support/manual-clock.js';
import { eventually, type OwnRedis, ownRedis } from './own-redis.js';

let redis: OwnRedis;
beforeAll(async () => {
  redis = await ownRedis();
});
afterAll(() => redis.remove());

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Ran = DueRow & { readonly at: number };

type QueueOptions = {
  readonly clock?: Clock;
  readonly slackMs?: number;
  /** How long a call waits for Redis, in ms. The default is longer than a busy machine needs. */
  readonly limitMs?: number;
  readonly pendingMax?: number;
  readonly removalsMax?: number;
  readonly run?: (row: DueRow) => Promise<void>;
};

/**
 * Creates timers and a worker on a new queue. `ran` lists the jobs that the worker has run, each with the time at which
 * it ran.
 */
function queue(options: QueueOptions = {}) {
  const prefix = `test-${randomUUID()}`;
  const ran: Ran[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const { clock = { now: () => Date.now() }, slackMs = 0 } = options;
  const { limitMs = 30_000, pendingMax = 1_000, removalsMax = 1_000 } = options;
  const limits = { limitMs, pendingMax, removalsMax };
  const timers = bullmqTimers({ url: redis.url, prefix, clock, onError, slackMs, ...limits });
  closers.push(timers.close);
  const work = () => {
    const run = async (row: DueRow) => {
      ran.push({ ...row, at: Date.now() });
      await options.run?.(row);
    };
    const worker = bullmqTimerWorker({ url: redis.url, prefix, run, onError, closeMsMax: 2_000 });
    closers.push(worker.close);
    return worker;
  };
  const jobs = async () =>
    (await redis.everything()).split('\n').filter((line) => new RegExp(`^${prefix}:timers:(expiry|cvc)_`).test(line));
  return { timers, ran, errors, work, jobs };
}

function timer(inMs: number, more: Partial<DueRow> = {}): DueRow {
  const stream = `token-${randomBytes(32).toString('hex')}`;
  return { stream, tenantId: randomUUID(), due: 'expiry', dueAt: Date.now() + inMs, ...more };
}

test('a job runs soon after its time plus the allowance for uncertain clocks, and leaves nothing behind', async () => {
  const { timers, ran, errors, work, jobs } = queue({ slackMs: 300 });
  work();
  // The first job takes longer than later jobs, because it has to wait until the connections are open.
  timers.set(timer(0));
  expect(await eventually(() => ran.length === 1)).toBe(true);
  const set = Array.from({ length: 20 }, (_, index) => timer(500 + index * 50, { due: index % 2 ? 'cvc' : 'expiry' }));
  for (const each of set) timers.set(each);
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  /** How late a timer of Node.js is at the same time, with one call to Redis. On a busy machine, both are late. */
  const usual = set.map(async ({ dueAt }) => {
    await wait(dueAt + 300 - Date.now());
    await client.ping();
    return Date.now() - dueAt - 300;
  });
  expect(await eventually(() => ran.length === 21)).toBe(true);
  const usuallyLate = (await Promise.all(usual)).sort((a, b) => a - b);
  const late = set.map(({ stream, due, dueAt }) => {
    const found = ran.find((row) => row.stream === stream);
    expect(found).toMatchObject({ due, dueAt });
    return (found?.at ?? Number.NaN) - dueAt - 300;
  });
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  late.sort((a, b) => a - b);
  console.log(`late by ${late[10]} ms (median), ${late[19]} ms (most); a timer of Node.js, by ${usuallyLate[10]} ms`);
  expect(late[10]).toBeLessThan(200 + 5 * Number(usuallyLate[10]));
  expect(await eventually(async () => (await jobs()).length === 0)).toBe(true);
  expect(errors).toEqual([]);
});

test('setting a timer to the same time again creates no second job, and setting it to another time does', async () => {
  const { timers, ran, work, jobs } = queue();
  const first = timer(600_000);
  for (let times = 0; times < 3; times += 1) timers.set(first);
  await timers.refill([first]);
  expect(await eventually(async () => (await jobs()).length > 0)).toBe(true);
  expect(await jobs()).toHaveLength(1);
  work();
  timers.set({ ...first, dueAt: Date.now() + 100 });
  expect(await eventually(() => ran.length > 0)).toBe(true);
  expect(ran).toHaveLength(1);
});

test('only timers that are due within a day are set, and overdue ones are left to the sweep', async () => {
  const { timers, jobs } = queue();
  timers.set(timer(soonMs + 60_000));
  const [overdue, soon, later] = [timer(-1_000), timer(soonMs - 60_000), timer(soonMs + 60_000)];
  await timers.refill([overdue, soon, later]);
  const lines = await jobs();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(soon.stream);
});

test('refill sets as many timers as the limit allows, and starts with the earliest', async () => {
  const { timers, jobs } = queue({ pendingMax: 50 });
  const rows = Array.from({ length: 80 }, (_, index) => timer(60_000 + index));
  await timers.refill(rows);
  const lines = await jobs();
  expect(lines).toHaveLength(50);
  expect(rows.slice(0, 50).filter(({ stream }) => !lines.some((line) => line.includes(stream)))).toEqual([]);
});

test('a failed job is reported and not retried, and neither the job nor its error stays in Redis', async () => {
  const marker = `marker-${randomUUID()}`;
  const { timers, ran, errors, work, jobs } = queue({ run: () => Promise.reject(new Error(marker)) });
  timers.set(timer(0));
  expect(await eventually(async () => (await jobs()).length === 1)).toBe(true);
  const [stored = ''] = await jobs();
  const { opts } = JSON.parse(stored.slice(stored.indexOf(' '))) as { readonly opts: string };
  // BullMQ does not retry a job that has a single attempt.
  expect(JSON.parse(opts)).toMatchObject({ attempts: 1 });
  work();
  expect(await eventually(() => errors.length === 1)).toBe(true);
  expect(await eventually(async () => (await jobs()).length === 0)).toBe(true);
  expect(ran).toHaveLength(1);
  expect(await redis.everything()).not.toContain(marker);
});

test('Redis contains only a timer’s tenant id, stream id and time', async () => {
  const { timers, jobs } = queue();
  const marker = `marker-${randomUUID()}`;
  const marked = { ...timer(60_000), tokenId: marker, value: marker };
  timers.set(marked);
  await timers.refill([{ ...marked, dueAt: marked.dueAt + 1 }]);
  expect(await eventually(async () => (await jobs()).length === 2)).toBe(true);
  const everything = await redis.everything();
  expect(everything).toContain(marked.stream);
  expect(everything).not.toContain(marker);
});

test('Redis does not name a token whose timer was cleared or has run, even after FLUSHALL', async () => {
  const { timers, ran, work } = queue();
  const isNamed = async ({ stream }: DueRow) => (await redis.everything()).includes(stream.slice('token-'.length));
  await timers.refill([timer(60_000)]);
  const cleared = timer(60_000);
  timers.set(cleared);
  timers.clear(cleared);
  expect(await eventually(() => timers.counts().pending === 0)).toBe(true);
  expect(await isNamed(cleared)).toBe(false);
  await redis.flushAll();
  work();
  const [clearedLater, due] = [timer(60_000), timer(0)];
  timers.set(clearedLater);
  timers.set(due);
  expect(await eventually(() => ran.length === 1)).toBe(true);
  timers.clear(clearedLater);
  expect(await eventually(() => timers.counts().pending === 0)).toBe(true);
  const areForgotten = async () => {
    // The leader refills the timers every ten seconds.
    await timers.refill([]);
    return !(await isNamed(clearedLater)) && !(await isNamed(due));
  };
  expect(await eventually(areForgotten)).toBe(true);
});

test('after FLUSHALL, new jobs run, and so do jobs that are set again', async () => {
  // By this clock, the lost timer is still not overdue when it is set again.
  const clock = manualClock(Date.now());
  const { timers, ran, work } = queue({ clock });
  work();
  timers.set(timer(0));
  expect(await eventually(() => ran.length === 1)).toBe(true);
  const lost = timer(2_000);
  await timers.refill([lost]);
  await redis.flushAll();
  const next = timer(300);
  timers.set(next);
  expect(await eventually(() => ran.some(({ stream }) => stream === next.stream))).toBe(true);
  await timers.refill([lost]);
  expect(await eventually(() => ran.some(({ stream }) => stream === lost.stream))).toBe(true);
});

test('if Redis stops, no call waits, and excess timers are dropped and counted; after a restart, jobs run again', async () => {
  const { timers, ran, errors, work } = queue({ pendingMax: 10, limitMs: 1_000 });
  work();
  timers.set(timer(0));
  // The worker can run the job before the timers receive the response to their command.
  expect(await eventually(() => ran.length === 1 && timers.counts().pending === 0)).toBe(true);
  await redis.stop();
  const set = Array.from({ length: 30 }, () => timer(0));
  for (const each of set) timers.set(each);
  expect(timers.counts()).toEqual({ pending: 10, dropped: 20 });
  const began = performance.now();
  await timers.refill([timer(1_000)]);
  expect(performance.now() - began).toBeLessThan(5_000);
  // The timers and the worker each report a Redis failure at most once per minute. Less than a minute has passed, so
  // there are at most two reports.
  expect(errors.length).toBeLessThanOrEqual(2);
  expect(String(errors)).toMatch(/StoreUnavailable: redis: /);
  await redis.start();
  expect(await eventually(() => ran.length >= 11 && timers.counts().pending === 0, 30_000)).toBe(true);
  expect(ran).toHaveLength(11);
  expect(timers.counts()).toEqual({ pending: 0, dropped: 20 });
  const after = timer(200);
  timers.set(after);
  expect(await eventually(() => ran.some(({ stream }) => stream === after.stream), 30_000)).toBe(true);
});

test('if Redis stops, removals cannot fill the memory: excess removals are dropped, the others are sent after a restart', async () => {
  const { timers, jobs } = queue({ removalsMax: 10, limitMs: 1_000 });
  const set = Array.from({ length: 12 }, () => timer(60_000));
  await timers.refill(set);
  await redis.stop();
  for (const each of set) timers.clear(each);
  expect(timers.counts()).toEqual({ pending: 10, dropped: 2 });
  await redis.start();
  expect(await eventually(() => timers.counts().pending === 0, 30_000)).toBe(true);
  expect(await jobs()).toHaveLength(2);
});

test('if Redis is frozen, refill returns within its time limit', async () => {
  const { timers, jobs } = queue({ limitMs: 1_000 });
  await timers.refill([timer(60_000)]);
  redis.freeze();
  const limit = wait(1_000).then(() => performance.now());
  const refilled = timers.refill([timer(60_000)]).then(() => performance.now());
  // On a busy machine, a timer with the same time limit is late too.
  expect((await refilled) - (await limit)).toBeLessThan(2_000);
  redis.wake();
  expect(await eventually(async () => (await jobs()).length === 2)).toBe(true);
});

test('close waits for a running job and records its completion in Redis', async () => {
  let ended = false;
  const run = async () => {
    await wait(500);
    ended = true;
  };
  const { timers, ran, work, jobs } = queue({ run });
  const worker = work();
  timers.set(timer(0));
  expect(await eventually(() => ran.length === 1)).toBe(true);
  await worker.close();
  expect(ended).toBe(true);
  expect(await jobs()).toEqual([]);
});

test('close sends timers that were set before it', async () => {
  const { timers, jobs } = queue();
  for (let index = 0; index < 100; index += 1) timers.set(timer(60_000));
  await timers.close();
  expect(await jobs()).toHaveLength(100);
});

test.each(['stopped', 'frozen'])(
  'if Redis is %s, the timers and the worker close within a time limit, even with a running job',
  async (how) => {
    const { timers, ran, work } = queue({ limitMs: 1_000, run: () => wait(60_000, undefined, { ref: false }) });
    const worker = work();
    timers.set(timer(0));
    expect(await eventually(() => ran.length === 1)).toBe(true);
    if (how === 'stopped') await redis.stop();
    else redis.freeze();
    timers.set(timer(0));
    // The worker waits two seconds for the job, and up to four more seconds for Redis.
    const usual = wait(4_000).then(() => performance.now());
    await Promise.all([timers.close(), worker.close()]);
    const closedAt = performance.now();
    // On a busy machine, a timer is late too.
    expect(closedAt - (await usual)).toBeLessThan(2_000);
    if (how === 'stopped') await redis.start();
    else redis.wake();
  },
);

test('the workers for timers and webhooks stop at the same time, so jobs that hang delay a stop only once', async () => {
  const prefix = `test-${randomUUID()}`;
  const clock = { now: () => Date.now() };
  const onError = () => undefined;
  const opened = openRedis({ url: redis.url, prefix, clock, fallback: memoryRateLimits(clock), onError });
  closers.push(opened.close);
  const hanging: string[] = [];
  const hang = (name: string) => () => {
    hanging.push(name);
    return new Promise<void>(() => undefined);
  };
  opened.work(hang('timer'), onError);
  opened.workOnWebhooks(hang('webhook'), onError);
  opened.timers.set(timer(0));
  await opened.carryWebhook({ tenantId: randomUUID(), webhookId: randomUUID(), position: 0 });
  await eventually(() => hanging.length === 2);
  expect(hanging.sort()).toEqual(['timer', 'webhook']);
  const began = performance.now();
  await opened.stopWork();
  // One worker waits ten seconds for its jobs, and the other twelve.
  expect(performance.now() - began).toBeLessThan(18_000);
});

test('if Redis loses its list of jobs but not the jobs, a webhook is delivered again after at most a minute', async () => {
  const prefix = `test-${randomUUID()}`;
  const ran: WebhookJob[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  let now = 0;
  const { carry, close } = bullmqWebhooks({ url: redis.url, prefix, onError, now: () => now });
  closers.push(close);
  const job = { tenantId: randomUUID(), webhookId: randomUUID(), position: 1 };
  expect(await carry(job)).toBe(true);
  const client = new Redis(redis.url);
  expect(await client.del(`${prefix}:webhooks:wait`), 'lists that were lost').toBe(1);
  client.disconnect();
  now += 60_000;
  expect(await carry(job)).toBe(true);
  const run = async (given: WebhookJob) => void ran.push(given);
  closers.push(bullmqWebhookWorker({ url: redis.url, prefix, run, onError }).close);
  expect(await eventually(() => ran.length > 0)).toBe(true);
  expect(ran).toEqual([job]);
  expect(errors).toEqual([]);
});

/** Threat: an attacker who can write to Redis adds jobs. */
test('a job of another form is not run, and does not prevent others from running', async () => {
  const prefix = `test-${randomUUID()}`;
  const rows: DueRow[] = [];
  const webhooks: WebhookJob[] = [];
  const errors: unknown[] = [];
  const options = { url: redis.url, prefix, onError: (error: unknown) => void errors.push(error) };
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  for (const name of ['timers', 'webhooks']) {
    const queue = new Queue(name, { prefix, connection });
    await queue.add(name, { tenantId: 1 });
    await queue.close();
  }
  connection.disconnect();
  const timers = bullmqTimers({ ...options, clock: { now: () => Date.now() }, slackMs: 0 });
  const { carry, close } = bullmqWebhooks(options);
  closers.push(timers.close, close);
  const [row, job] = [timer(0), { tenantId: randomUUID(), webhookId: randomUUID(), position: 1 }];
  timers.set(row);
  expect(await carry(job)).toBe(true);
  closers.push(bullmqTimerWorker({ ...options, run: async (given) => void rows.push(given) }).close);
  closers.push(bullmqWebhookWorker({ ...options, run: async (given) => void webhooks.push(given) }).close);
  expect(await eventually(() => rows.length > 0 && webhooks.length > 0)).toBe(true);
  expect([rows, webhooks]).toEqual([[row], [job]]);
  expect(errors).toEqual([]);
});

test('a webhook job that fails is reported, does not stay in Redis with its error, and the next one runs', async () => {
  const prefix = `test-${randomUUID()}`;
  const marker = `marker-${randomUUID()}`;
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const { carry, close } = bullmqWebhooks({ url: redis.url, prefix, onError });
  closers.push(close);
  const run = () => Promise.reject(new Error(marker));
  closers.push(bullmqWebhookWorker({ url: redis.url, prefix, run, onError }).close);
  const job = { tenantId: randomUUID(), webhookId: randomUUID(), position: 1 };
  for (const count of [1, 2]) {
    expect(await carry(job)).toBe(true);
    expect(await eventually(() => errors.length === count)).toBe(true);
    const isGone = async () => !(await redis.everything()).includes(`${prefix}:webhooks:${job.webhookId}`);
    expect(await eventually(isGone)).toBe(true);
  }
  expect(errors).toEqual([new Error(marker), new Error(marker)]);
  expect(await redis.everything()).not.toContain(marker);
});

test('while Redis does not respond to a webhook job, no further job is sent; once it responds, jobs are accepted', async () => {
  const options = { url: redis.url, prefix: `test-${randomUUID()}`, onError: () => undefined, limitMs: 300 };
  const { carry, close } = bullmqWebhooks(options);
  closers.push(close);
  const job = { tenantId: randomUUID(), webhookId: randomUUID(), position: 1 };
  expect(await eventually(() => carry(job))).toBe(true);
  redis.freeze();
  expect(await carry(job)).toBe(false);
  // A job that is sent waits for Redis. Otherwise, the result is there before the next turn of the event loop.
  expect(await Promise.race([carry(job), nextTurn('sent')])).toBe(false);
  redis.wake();
  expect(await eventually(() => carry(job))).toBe(true);
});
