import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type AppendResult,
  binaryEvent,
  type EventData,
  EventStoreDBClient,
  NO_STREAM,
  UnavailableError,
} from '@eventstore/db-client';
import { expect, onTestFinished, test } from 'vitest';
import { startStandIn } from '../../support/eventstoredb.js';

// These tests show what the client does when a server goes down. They kill servers, so they run only on the stand-in,
// which they start themselves.
const unavailable = 14;

function anEvent(): EventData {
  return binaryEvent({ id: randomUUID(), type: 'outage-tested', data: Buffer.alloc(1_000) });
}

async function server() {
  const standIn = await startStandIn();
  onTestFinished(() => standIn.remove());
  const client = EventStoreDBClient.connectionString(standIn.url);
  onTestFinished(() => client.dispose());
  const append = (stream: string, events: EventData[] = [anEvent()]): Promise<AppendResult> =>
    client.appendToStream(stream, events, { expectedRevision: NO_STREAM });
  const read = async (stream: string): Promise<number> => {
    let events = 0;
    for await (const _event of client.readStream(stream)) events += 1;
    return events;
  };
  await append(`warm-${randomUUID()}`);
  return { standIn, append, read };
}

async function failureOf(call: Promise<unknown>): Promise<{ readonly error: Error; readonly afterMs: number }> {
  const began = performance.now();
  return call.then(
    () => expect.unreachable('it succeeded'),
    (error: Error) => ({ error, afterMs: performance.now() - began }),
  );
}

test('if the server is killed, every append in flight fails as unavailable', async () => {
  const { standIn, append } = await server();
  standIn.signal('SIGSTOP');
  const appends = Array.from({ length: 256 }, (_, stream) => failureOf(append(`killed-${stream}`)));
  await wait(200);
  await standIn.kill();
  for (const { error } of await Promise.all(appends)) expect(error).toMatchObject({ code: unavailable });
});

test('while the server is down, appends and reads fail at once, by type or by code alone; after a restart, they work again', async () => {
  const { standIn, append, read } = await server();
  const first = [anEvent(), anEvent()];
  const { position } = await append('stays', first);
  await standIn.kill();
  const failures = [];
  for (let time = 0; time < 5; time += 1) {
    failures.push(await failureOf(append(`down-${time}`)), await failureOf(read('stays')));
  }
  for (const { error, afterMs } of failures) {
    expect(error).toMatchObject({ code: unavailable });
    expect(afterMs).toBeLessThan(2_000);
  }
  expect(failures.some(({ error }) => error instanceof UnavailableError)).toBe(true);
  expect(failures.some(({ error }) => !('type' in error))).toBe(true);

  await standIn.start();
  await expect.poll(() => read('stays').catch(() => 0)).toBe(2);
  // The server recognizes a retried append even after a restart.
  expect(await append('stays', first)).toEqual({ success: true, nextExpectedRevision: 1n, position });
  expect(await read('stays')).toBe(2);
});

test('if the server is frozen for 4 s, the append succeeds late', async () => {
  const { standIn, append, read } = await server();
  standIn.signal('SIGSTOP');
  const late = append('late');
  await wait(4_000);
  standIn.signal('SIGCONT');
  expect(await late).toMatchObject({ success: true });
  expect(await read('late')).toBe(1);
});

test('if the server is frozen for longer, the append fails as unavailable after about 20 s, whatever its deadline', async () => {
  const { standIn, append } = await server();
  standIn.signal('SIGSTOP');
  const { error, afterMs } = await failureOf(append('never'));
  expect(error).toBeInstanceOf(UnavailableError);
  expect(afterMs).toBeGreaterThan(10_000);
  expect(afterMs).toBeLessThan(30_000);
});
