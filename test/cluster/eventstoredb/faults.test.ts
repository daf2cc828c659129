import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import type { NewEvent } from '#src/events/event.js';
import type { EventLog } from '#src/ports/event-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { standInWithLog } from '../../adapters/eventstoredb/support.js';
import { anEvent, aStream } from '../../contract/support.js';

/** Appends events to a separate stream, one at a time, until `isOver` returns true. Returns the acknowledged events. */
async function writer(log: EventLog, stream: string, isOver: () => boolean): Promise<readonly NewEvent[]> {
  const acknowledged: NewEvent[] = [];
  while (!isOver()) {
    const events = acknowledged.length % 3 === 0 ? [anEvent(), anEvent()] : [anEvent()];
    const { outcome } = await log.append(stream, acknowledged.length - 1, events);
    if (outcome === 'conflict') throw new Error('there is no other writer');
    acknowledged.push(...events);
  }
  return acknowledged;
}

test.each([
  { what: 'a server', fault: undefined },
  { what: 'a server that knows no repeat', fault: 'forgetful' },
] as const)('64 writers store each event once and lose none while $what is killed repeatedly', async ({ fault }) => {
  const { server, log } = await standInWithLog(60_000, fault);
  let isOver = false;
  const streams = Array.from({ length: 64 }, () => aStream());
  const writers = Promise.all(streams.map((stream) => writer(log, stream, () => isOver)));
  for (let round = 0; round < 6; round += 1) {
    await wait(500 + Math.random() * 500);
    await server.kill();
    await server.start();
  }
  isOver = true;
  const acknowledged = await writers;
  for (const [index, stream] of streams.entries()) {
    const stored = (await log.readStream(stream)).map(({ id }) => id);
    expect(stored).toEqual(acknowledged[index]?.map(({ id }) => id));
  }
  const all = acknowledged.flat().map(({ id }) => id);
  expect(all.length).toBeGreaterThan(64);
  expect((await log.readAll(0, all.length + 1)).map(({ id }) => id).sort()).toEqual(all.sort());
});

test('every call fails within 6 s if the server is frozen, and all calls work again once the server resumes', async () => {
  const { server, log } = await standInWithLog();
  const stream = aStream();
  await log.append(stream, -1, [anEvent()]);
  server.signal('SIGSTOP');
  const late = [anEvent()];
  const calls = Promise.allSettled([
    log.append(stream, 0, late),
    ...Array.from({ length: 300 }, () => log.append(aStream(), -1, [anEvent()])),
    ...Array.from({ length: 300 }, () => log.readStream(stream)),
    log.readAll(0, 10),
    log.readClear(0, 10),
    log.head(),
  ]);
  // On a busy machine, a timer of five seconds is late too.
  const usual = wait(5_000).then(() => performance.now());
  const ended = calls.then(() => performance.now());
  expect((await ended) - (await usual)).toBeLessThan(1_000);
  const outcomes = await calls;
  for (const call of outcomes) expect(call).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) });

  server.signal('SIGCONT');
  // On a busy machine, the server first needs some time for the calls that it received while it was frozen.
  const patient = await openEventStoreDb(server.url, 60_000);
  onTestFinished(patient.close);
  await patient.log.head();
  expect(await log.append(aStream(), -1, [anEvent()])).toMatchObject({ outcome: 'appended' });
  // The server may or may not have stored the append that timed out. Either way, a retry succeeds, and the event is
  // stored only once.
  expect(await log.append(stream, 0, late)).toMatchObject({ outcome: 'appended' });
  expect((await log.readStream(stream)).map(({ id }) => id)).toEqual([expect.any(String), late[0]?.id]);
  expect(await Promise.all(Array.from({ length: 300 }, () => log.readStream(stream)))).toHaveLength(300);
});

test('the client works again within 5 s of a server restart', async () => {
  const { server, log } = await standInWithLog();
  const stream = aStream();
  await log.append(stream, -1, [anEvent()]);
  await server.kill();
  await expect(log.readStream(stream)).rejects.toThrow(StoreUnavailable);
  await expect(log.append(stream, 0, [anEvent()])).rejects.toThrow(StoreUnavailable);
  await server.start();
  const began = performance.now();
  expect(await log.append(aStream(), -1, [anEvent()])).toMatchObject({ outcome: 'appended' });
  expect(await log.readStream(stream)).toHaveLength(1);
  expect(performance.now() - began).toBeLessThan(5_000);
});

test('large appends that wait on a frozen connection do not crash the process when the connection breaks', async () => {
  const { server, log } = await standInWithLog(60_000);
  await log.append(aStream(), -1, [anEvent()]);
  server.signal('SIGSTOP');
  const sealed = { content: randomBytes(500_000), cvc: null };
  const appends = Promise.allSettled(
    Array.from({ length: 64 }, () => log.append(aStream(), -1, [anEvent({ sealed })])),
  );
  await wait(1_000);
  await server.kill();
  await server.start();
  const outcomes = await appends;
  expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
  expect(await log.append(aStream(), -1, [anEvent()])).toMatchObject({ outcome: 'appended' });
});
