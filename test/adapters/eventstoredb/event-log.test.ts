import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { binaryEvent, EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Connection } from '#src/adapters/eventstoredb/connection.js';
import type { ReadEvent } from '#src/adapters/eventstoredb/decode-event.js';
import { encodeEvents } from '#src/adapters/eventstoredb/encode-events.js';
import { openEventStoreDb } from '#src/adapters/eventstoredb/open-event-store-db.js';
import { positionOf } from '#src/adapters/eventstoredb/position.js';
import { readLog } from '#src/adapters/eventstoredb/read-log.js';
import { sealCommit } from '#src/events/commit.js';
import { ForgedLog } from '#src/ports/event-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { anEvent, aStream } from '../../contract/support.js';
import { testIntegrityKeys } from '../../support/integrity.js';
import { standInWithLog } from './support.js';

test('a new log is empty although EventStoreDB wrote system events', async () => {
  const { log } = await standInWithLog();
  expect(await log.head()).toBe(0);
  expect(await log.readAll(0, 10)).toEqual([]);
  expect(await log.readStream(aStream())).toEqual([]);
});

test('events of EventStoreDB and of other programs are not part of the log, and reading still reaches the head', async () => {
  const { log, server } = await standInWithLog();
  const others = EventStoreDBClient.connectionString(server.url);
  onTestFinished(() => others.dispose());
  const foreign = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'foreign', data: {} }));
  const appendForeign = (stream: string, count: number) =>
    others.appendToStream(stream, foreign(count), { expectedRevision: NO_STREAM });

  await appendForeign('before', 50);
  const stream = aStream();
  await log.append(stream, -1, [anEvent()]);
  await appendForeign('between', 70);
  await log.append(stream, 0, [anEvent()]);
  await appendForeign('after', 90);
  await appendForeign('$system', 90);

  const own = await log.readStream(stream);
  for (const limit of [1, 2, 1_000]) expect(await log.readAll(0, limit)).toEqual(own.slice(0, limit));
  const [first, last] = own;
  expect(await log.readAll(first?.position ?? 0, 1)).toEqual([last]);
  expect(await log.head()).toBe(last?.position);
  expect(await log.readAll(last?.position ?? 0, 10)).toEqual([]);
});

test('a malformed event is reported as forged, with its place, instead of being skipped', async () => {
  const { log, server } = await standInWithLog();
  const others = EventStoreDBClient.connectionString(server.url);
  onTestFinished(() => others.dispose());
  const stream = aStream();
  await log.append(stream, -1, [anEvent()]);
  const [own] = await log.readStream(stream);
  const [{ data: frame, metadata } = expect.unreachable()] = encodeEvents(
    sealCommit(testIntegrityKeys.commits, stream, 0, [anEvent()]).events,
  );
  const data = Buffer.from(frame as Uint8Array);
  const sound = metadata as Readonly<Record<string, unknown>>;
  const malformed = [
    { metadata: { strongroom: 3 }, data },
    { metadata: { ...sound, strongroom: 3 }, data },
    { metadata: { ...sound, tenant: undefined }, data },
    ...Object.keys(sound).map((name) => ({ metadata: { ...sound, [name]: name === 'clear' ? [1] : {} }, data })),
    { metadata: sound, data: Buffer.of(2) },
    { metadata: sound, data: data.subarray(0, -1) },
  ];
  for (const [index, { metadata: wrong, data: bytes }] of malformed.entries()) {
    const name = `${stream}-${index}`;
    const event = binaryEvent({ type: 'test.happened', data: bytes, metadata: wrong as never });
    const { position } = await others.appendToStream(name, [event], { expectedRevision: NO_STREAM });
    const message = `the event at position ${position?.commit} (revision 0 of ${name}) has an unknown format`;
    const read = await log.readStream(name).catch((error: unknown) => error);
    expect(read, JSON.stringify(wrong)).toBeInstanceOf(ForgedLog);
    expect(read).toMatchObject({ what: message });
    if (index === 0) {
      await expect(log.readAll(0, 10)).rejects.toThrow(message);
      await expect(log.readClear(0, 10)).rejects.toThrow(message);
    }
    expect(await log.head()).toBe(Number(position?.commit));
  }
  // The events before a malformed event can still be read.
  expect(await log.readAll(0, 1)).toEqual([own]);
});

test('an event from another program in one of the vault’s streams is reported as forged, with its place', async () => {
  const { log, server } = await standInWithLog();
  const others = EventStoreDBClient.connectionString(server.url);
  onTestFinished(() => others.dispose());
  const stream = aStream();
  await log.append(stream, -1, [anEvent()]);
  const event = jsonEvent({ type: 'foreign', data: {} });
  const { position } = await others.appendToStream(stream, event, { expectedRevision: 0n });
  const message = `the event at position ${position?.commit} (revision 1 of ${stream}) was written by another program`;
  const read = await log.readStream(stream).catch((error: unknown) => error);
  expect(read).toBeInstanceOf(ForgedLog);
  expect(read).toMatchObject({ what: message });
});

test('an append that the client or the server would reject is rejected before it is sent, and the log still works', async () => {
  const { log } = await standInWithLog();
  const stream = aStream();
  await expect(log.append(stream, -1, [anEvent({ id: 'no-uuid' })])).rejects.toThrow('UUID');
  await expect(log.append(stream, -1, [anEvent({ type: '' })])).rejects.toThrow('type');
  await expect(log.append(stream, -1, [anEvent({ type: '$statsCollected' })])).rejects.toThrow('type');
  await expect(log.append('$system', -1, [anEvent()])).rejects.toThrow('name');
  await expect(log.append('', -1, [anEvent()])).rejects.toThrow('name');
  const half = { content: randomBytes(530_000), cvc: null };
  const large = [anEvent({ sealed: half }), anEvent({ sealed: half })];
  await expect(log.append(stream, -1, large)).rejects.toThrow(/^an append of 106\d{4} bytes is more than the 1048576/);
  expect(await log.append(stream, -1, [anEvent()])).toMatchObject({ outcome: 'appended' });
});

test('300 concurrent reads and 300 concurrent appends all settle', async () => {
  const { log } = await standInWithLog(60_000);
  const streams = Array.from({ length: 300 }, () => aStream());
  const appended = await Promise.all(streams.map((stream) => log.append(stream, -1, [anEvent(), anEvent()])));
  expect(appended.filter(({ outcome }) => outcome === 'appended')).toHaveLength(300);
  const read = await Promise.all(streams.map((stream) => log.readStream(stream)));
  expect(read.filter((events) => events.length === 2)).toHaveLength(300);
  const missing = await Promise.all(streams.map(() => log.readStream(aStream())));
  expect(missing.flat()).toEqual([]);
});

test('a read with a limit above 100,000 returns all events', async () => {
  const { server, log } = await standInWithLog(60_000);
  const client = EventStoreDBClient.connectionString(server.url);
  onTestFinished(() => client.dispose());
  const [appends, perAppend] = [101, 1_000];
  for (let written = 0; written < appends; written += 1) {
    const stream = aStream();
    // Each event gets a separate commit. If a thousand events shared one commit, every event would store all thousand
    // digests.
    const events = Array.from({ length: perAppend }, () => anEvent()).flatMap(
      (event, index) => sealCommit(testIntegrityKeys.commits, stream, index - 1, [event]).events,
    );
    await client.appendToStream(stream, encodeEvents(events), { expectedRevision: NO_STREAM });
  }
  const all = await log.readClear(0, 200_000);
  expect(new Set(all.map(({ id }) => id)).size).toBe(appends * perAppend);
}, 180_000);

test('a retried append returns the same result as the first one', async () => {
  const { log } = await standInWithLog();
  const stream = aStream();
  const events = [anEvent(), anEvent()];
  const first = await log.append(stream, -1, events);
  await log.append(stream, 1, [anEvent()]);
  expect(await log.append(stream, -1, events)).toEqual(first);
  expect(await log.readStream(stream)).toHaveLength(3);
});

test('an unreachable server is reported within the time limit', async () => {
  const opened = openEventStoreDb('esdb://127.0.0.1:9?tls=false', 500);
  await expect(opened).rejects.toThrow(StoreUnavailable);
});

test('an error about an unreadable connection string does not quote the string', async () => {
  const opened = openEventStoreDb('esdb://admin:SECRETPASSWORD@a b c?tls=maybe');
  const error = await opened.then(
    () => expect.unreachable(),
    (thrown: Error) => thrown,
  );
  expect(error.message).not.toContain('SECRET');
  expect(error.message).toMatch(/^the address of EventStoreDB cannot be used: check eventstore\.url/);
});

test('a position that a JavaScript number cannot represent exactly is an error', () => {
  expect(positionOf(BigInt(Number.MAX_SAFE_INTEGER))).toBe(Number.MAX_SAFE_INTEGER);
  expect(() => positionOf(BigInt(Number.MAX_SAFE_INTEGER) + 1n)).toThrow('too long');
  expect(() => positionOf(undefined)).toThrow('no position');
});

test('each event of a read is decoded as it arrives, so that a page of large ciphertexts does not fill the memory', async () => {
  const read = new EventEmitter();
  const client = EventStoreDBClient.connectionString('esdb://127.0.0.1:1?tls=false');
  onTestFinished(() => client.dispose());
  vi.spyOn(client, 'readStream').mockReturnValue(read as never);
  const connection: Connection = {
    call: async (_, limitMs, attempt) => attempt({ client, heard: () => undefined } as never, limitMs, true),
    close: () => undefined,
  };
  const positions: bigint[] = [];
  const found = readLog(connection, 1_000).stream('token-1', ({ commitPosition = 0n }) => {
    positions.push(commitPosition);
    if (commitPosition === 3n) throw new ForgedLog('the third event is forged');
    return commitPosition;
  });
  const error = found.catch((thrown: unknown) => thrown);
  for (const commitPosition of [1n, 2n, 3n]) {
    read.emit('data', { commitPosition } satisfies Partial<ReadEvent>);
    expect(positions.at(-1)).toBe(commitPosition);
  }
  read.emit('data', { commitPosition: 4n });
  expect(positions).toHaveLength(3);
  read.emit('end');
  expect(await error).toEqual(new ForgedLog('the third event is forged'));
});
