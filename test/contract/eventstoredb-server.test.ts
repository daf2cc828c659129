import { randomUUID } from 'node:crypto';
import {
  ANY,
  type AppendResult,
  BACKWARDS,
  binaryEvent,
  END,
  type EventData,
  EventStoreDBClient,
  jsonEvent,
  MaxAppendSizeExceededError,
  NO_STREAM,
  START,
  STREAM_EXISTS,
  type StreamingRead,
  StreamNotFoundError,
  UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventStoreServers } from '../support/eventstoredb.js';

// These tests check the server properties that the adapter depends on. They run on a real EventStoreDB and on the
// stand-in. If they pass on both, other tests can use the stand-in instead of EventStoreDB.
function aStream(): string {
  return `protocol-${randomUUID()}`;
}

function anEvent(id = randomUUID() as string, bytes = 10): EventData {
  return binaryEvent({ id, type: 'protocol-tested', data: Buffer.alloc(bytes, 7), metadata: { some: 'metadata' } });
}

type Expected = bigint | typeof NO_STREAM | typeof STREAM_EXISTS | typeof ANY;

async function all<T>(read: StreamingRead<T>): Promise<T[]> {
  const events: T[] = [];
  for await (const event of read) events.push(event);
  return events;
}

async function failureOf(call: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  return call.then(
    () => expect.unreachable('it succeeded'),
    (error) => error,
  );
}

describe.each(eventStoreServers)('on $what', ({ start }) => {
  let server: Awaited<ReturnType<typeof start>>;
  let client: EventStoreDBClient;
  beforeAll(async () => {
    server = await start();
    client = EventStoreDBClient.connectionString(server.url);
    await client.appendToStream(aStream(), anEvent(), { expectedRevision: NO_STREAM });
  });
  afterAll(async () => {
    await client.dispose();
    await server.remove();
  });

  function append(stream: string, expectedRevision: Expected, ...events: EventData[]): Promise<AppendResult> {
    return client.appendToStream(stream, events, { expectedRevision });
  }

  async function idsOf(stream: string): Promise<(string | undefined)[]> {
    return (await all(client.readStream(stream))).map(({ event }) => event?.id);
  }

  describe('an append', () => {
    test('to a new stream, and then at its exact revision, returns the revision and the position', async () => {
      const stream = aStream();
      const first = await append(stream, NO_STREAM, anEvent());
      expect(first).toEqual({ success: true, nextExpectedRevision: 0n, position: expect.anything() });
      const second = await append(stream, 0n, anEvent());
      expect(second).toMatchObject({ success: true, nextExpectedRevision: 1n });
      expect(second.position?.commit).toBeGreaterThan(first.position?.commit ?? 0n);
    });

    test.each([
      { what: 'as if the stream did not exist', expectedRevision: NO_STREAM, actualVersion: 2n },
      { what: 'at a stale revision', expectedRevision: 0n, actualVersion: 2n },
      { what: 'at a revision that does not exist yet', expectedRevision: 7n, actualVersion: 2n },
    ] as const)('$what is rejected', async ({ expectedRevision, actualVersion }) => {
      const stream = aStream();
      await append(stream, NO_STREAM, anEvent(), anEvent(), anEvent());
      const error = await failureOf(append(stream, expectedRevision, anEvent()));
      expect(error).toBeInstanceOf(WrongExpectedVersionError);
      expect(error).toMatchObject({
        type: 'wrong-expected-version',
        code: undefined,
        name: 'Error',
        streamName: stream,
        expectedVersion: expectedRevision,
        actualVersion,
      });
      expect(await idsOf(stream)).toHaveLength(3);
    });

    test.each([STREAM_EXISTS, 3n] as const)(
      'at %s is rejected if the stream does not exist',
      async (expectedRevision) => {
        const error = await failureOf(append(aStream(), expectedRevision, anEvent()));
        expect(error).toBeInstanceOf(WrongExpectedVersionError);
        expect(error).toMatchObject({ expectedVersion: expectedRevision, actualVersion: 'no_stream' });
      },
    );

    test('with the same ids at the same revision returns the first result and stores nothing, whatever its data is', async () => {
      const stream = aStream();
      const id = randomUUID();
      const first = await append(stream, NO_STREAM, anEvent(id));
      await append(stream, 0n, anEvent());
      expect(await append(stream, NO_STREAM, anEvent(id, 99))).toEqual(first);
      expect(await idsOf(stream)).toHaveLength(2);
    });

    test('counts as a retry even if its events are part of an earlier append or of several', async () => {
      const stream = aStream();
      const events = Array.from({ length: 5 }, () => anEvent());
      await append(stream, NO_STREAM, ...events.slice(0, 3));
      await append(stream, 2n, ...events.slice(3));
      expect(await append(stream, NO_STREAM, ...events.slice(0, 1))).toMatchObject({ nextExpectedRevision: 0n });
      expect(await append(stream, 0n, ...events.slice(1, 3))).toMatchObject({ nextExpectedRevision: 2n });
      expect(await append(stream, 1n, ...events.slice(2, 4))).toMatchObject({ nextExpectedRevision: 3n });
      expect(await append(stream, NO_STREAM, ...events)).toMatchObject({ nextExpectedRevision: 4n });
      expect(await idsOf(stream)).toEqual(events.map(({ id }) => id));
    });

    test('with an id that is already stored, at the revision of the head, stores the event a second time', async () => {
      const stream = aStream();
      const id = randomUUID();
      await append(stream, NO_STREAM, anEvent(id));
      expect(await append(stream, 0n, anEvent(id))).toMatchObject({ nextExpectedRevision: 1n });
      expect(await idsOf(stream)).toEqual([id, id]);
    });

    test('with an id that is already stored, at another revision or followed by a new event, is rejected', async () => {
      const stream = aStream();
      const [first, second] = [anEvent(), anEvent()];
      await append(stream, NO_STREAM, first, second);
      expect(await failureOf(append(stream, NO_STREAM, second))).toBeInstanceOf(WrongExpectedVersionError);
      expect(await failureOf(append(stream, 0n, second, anEvent()))).toBeInstanceOf(WrongExpectedVersionError);
      expect(await idsOf(stream)).toEqual([first.id, second.id]);
    });

    test('with an id and the expected revision `any` is recognized as a retry right after the first append', async () => {
      const stream = aStream();
      const event = anEvent();
      await append(stream, ANY, event);
      await append(stream, ANY, event);
      expect(await idsOf(stream)).toEqual([event.id]);
    });

    test('with several events stores all of them in order, and returns the revision and position of the last event', async () => {
      const stream = aStream();
      const events = Array.from({ length: 4 }, () => anEvent());
      const { nextExpectedRevision, position } = await append(stream, NO_STREAM, ...events);
      expect(nextExpectedRevision).toBe(3n);
      const stored = await all(client.readStream(stream));
      expect(stored.map(({ event }) => event?.id)).toEqual(events.map(({ id }) => id));
      expect(stored.map(({ event }) => event?.revision)).toEqual([0n, 1n, 2n, 3n]);
      expect(stored.at(-1)?.commitPosition).toBe(position?.commit);
    });

    test('to a new stream succeeds for exactly one of 20 concurrent calls, which stores all its events', async () => {
      const stream = aStream();
      const racers = Array.from({ length: 20 }, () => [anEvent(), anEvent()]);
      const outcomes = await Promise.allSettled(racers.map((events) => append(stream, NO_STREAM, ...events)));
      const winners = racers.filter((_, index) => outcomes[index]?.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      expect(await idsOf(stream)).toEqual(winners[0]?.map(({ id }) => id));
    });

    test('with the same id twice stores two events', async () => {
      const stream = aStream();
      const id = randomUUID();
      await append(stream, NO_STREAM, anEvent(id), anEvent(id));
      expect(await idsOf(stream)).toEqual([id, id]);
    });

    test('with no events succeeds and creates no stream', async () => {
      const stream = aStream();
      expect(await append(stream, NO_STREAM)).toMatchObject({ success: true });
      expect(await failureOf(all(client.readStream(stream)))).toBeInstanceOf(StreamNotFoundError);
    });

    // The exact limits of the two servers differ by about a thousand bytes. The adapter never sends more than 1 MiB, so
    // the difference has no effect.
    test('may contain nearly 1 MiB in all its events together, but not a few KiB more than that', async () => {
      const stream = aStream();
      const half = 512 * 1024;
      await append(stream, NO_STREAM, anEvent(randomUUID(), half), anEvent(randomUUID(), half - 4_096));
      const error = await failureOf(
        append(stream, 1n, anEvent(randomUUID(), half), anEvent(randomUUID(), half + 4_096)),
      );
      expect(error).toBeInstanceOf(MaxAppendSizeExceededError);
      expect(error).toMatchObject({ type: 'maximum-append-size-exceeded', maxAppendSize: 1024 * 1024 });
      expect(await idsOf(stream)).toHaveLength(2);
    });

    test('with a message above 16 MiB fails, and a later append is accepted', async () => {
      const stream = aStream();
      const error = await failureOf(append(stream, NO_STREAM, anEvent(randomUUID(), 17 * 1024 * 1024)));
      expect(error).toBeInstanceOf(UnknownError);
      expect(error).toMatchObject({ code: 8 });
      await append(stream, NO_STREAM, anEvent());
    });

    test('that is not awaited is stored in the order of the calls', async () => {
      const stream = aStream();
      const events = Array.from({ length: 50 }, () => anEvent());
      await Promise.all(
        events.map((event, index) => append(stream, index === 0 ? NO_STREAM : BigInt(index - 1), event)),
      );
      expect(await idsOf(stream)).toEqual(events.map(({ id }) => id));
    });

    test('with throwOnAppendFailure=false returns a meaningless revision when it fails', async () => {
      const quiet = EventStoreDBClient.connectionString(`${server.url}&throwOnAppendFailure=false`);
      const stream = aStream();
      await append(stream, NO_STREAM, anEvent(), anEvent(), anEvent());
      const answer = await quiet.appendToStream(stream, [anEvent()], { expectedRevision: 0n });
      await quiet.dispose();
      expect(answer).toMatchObject({ success: false, nextExpectedRevision: 1n });
    });

    test('to a stream with a system name is accepted', async () => {
      expect(await append(`$${aStream()}`, NO_STREAM, anEvent())).toMatchObject({ success: true });
    });

    test('with credentials is a different call with the same results', async () => {
      const stream = aStream();
      const options = { credentials: { username: 'admin', password: 'changeit' } };
      const event = anEvent();
      for (let time = 0; time < 2; time += 1) {
        const answer = await client.appendToStream(stream, [event], { ...options, expectedRevision: NO_STREAM });
        expect(answer).toMatchObject({ success: true, nextExpectedRevision: 0n });
      }
      const wrong = failureOf(client.appendToStream(stream, [anEvent()], { ...options, expectedRevision: 4n }));
      expect(await wrong).toMatchObject({ type: 'wrong-expected-version', expectedVersion: 4n, actualVersion: 0n });
      const large = [anEvent(randomUUID(), 1024 * 1024 + 4_096)];
      const tooLarge = failureOf(client.appendToStream(stream, large, { ...options, expectedRevision: 0n }));
      expect(await tooLarge).toMatchObject({ type: 'maximum-append-size-exceeded', maxAppendSize: 1024 * 1024 });
    });
  });

  describe('a read', () => {
    test('returns the id, type, data, metadata, revision, position and time of each event', async () => {
      const stream = aStream();
      const binary = anEvent();
      const json = jsonEvent({ type: 'protocol-tested', data: { n: 1 } });
      const before = Date.now();
      await append(stream, NO_STREAM, binary, json);
      const [first, second] = await all(client.readStream(stream));
      expect(first?.event).toMatchObject({
        streamId: stream,
        id: binary.id,
        type: 'protocol-tested',
        isJson: false,
        revision: 0n,
        metadata: { some: 'metadata' },
        position: { commit: first?.commitPosition },
      });
      expect(first?.event?.data).toEqual(new Uint8Array(10).fill(7));
      expect(second?.event).toMatchObject({ id: json.id, isJson: true, data: { n: 1 }, metadata: undefined });
      expect(Math.abs((first?.event?.created.getTime() ?? 0) - before)).toBeLessThan(60_000);
    });

    test('of a stream that does not exist fails, and three hundred such reads do not exhaust the connection', async () => {
      for (let time = 0; time < 300; time += 1) {
        const error = await failureOf(all(client.readStream(aStream())));
        expect(error).toBeInstanceOf(StreamNotFoundError);
      }
    });

    test('from a revision past the end is empty', async () => {
      const stream = aStream();
      const { position } = await append(stream, NO_STREAM, anEvent());
      expect(await all(client.readStream(stream, { fromRevision: 1n }))).toEqual([]);
      const far = (position?.commit ?? 0n) + 1_000_000_000n;
      expect(await all(client.readAll({ fromPosition: { commit: far, prepare: far } }))).toEqual([]);
    });

    test('from a position that never existed fails with an unknown error', async () => {
      const { position } = await append(aStream(), NO_STREAM, anEvent());
      await append(aStream(), NO_STREAM, anEvent());
      const never = (position?.commit ?? 0n) + 1n;
      const error = await failureOf(all(client.readAll({ fromPosition: { commit: never, prepare: never } })));
      expect(error).toBeInstanceOf(UnknownError);
      expect(error).toMatchObject({ code: 2 });
    });

    test('backwards begins with the newest event in the stream', async () => {
      const stream = aStream();
      const events = Array.from({ length: 5 }, () => anEvent());
      await append(stream, NO_STREAM, ...events);
      const newest = await all(client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 2 }));
      expect(newest.map(({ event }) => event?.id)).toEqual([events[4]?.id, events[3]?.id]);
    });

    test('of $all from a position begins with the event at that position', async () => {
      const [first, second] = [anEvent(), anEvent()];
      const { position } = await append(aStream(), NO_STREAM, first);
      await append(aStream(), NO_STREAM, second);
      expect(position).toBeDefined();
      const read = await all(client.readAll(position === undefined ? {} : { fromPosition: position }));
      expect(read[0]?.event?.id).toBe(first.id);
      expect(read.map(({ event }) => event?.id)).toContain(second.id);
    });

    test('of $all returns increasing positions with gaps, which are equal to those in the stream, and system events in between', async () => {
      const stream = aStream();
      await append(stream, NO_STREAM, ...Array.from({ length: 20 }, () => anEvent()));
      const [oldest] = await all(client.readStream(stream, { maxCount: 1 }));
      const commit = oldest?.commitPosition ?? 0n;
      const read = await all(client.readAll({ fromPosition: { commit, prepare: commit } }));
      const own = read.filter(({ event }) => event?.streamId === stream).map(({ commitPosition }) => commitPosition);
      expect(own).toEqual((await all(client.readStream(stream))).map(({ commitPosition }) => commitPosition));
      expect(own).toEqual([...new Set(own)].sort((a, b) => ((a ?? 0n) < (b ?? 0n) ? -1 : 1)));
      expect((own.at(-1) ?? 0n) - (own[0] ?? 0n)).toBeGreaterThan(19n);
      const start = await all(client.readAll({ fromPosition: START, maxCount: 10 }));
      expect(start.some(({ event }) => event?.type.startsWith('$'))).toBe(true);
    });

    test('of $all backwards begins with the newest event in the log', async () => {
      const stream = aStream();
      await append(stream, NO_STREAM, anEvent(), anEvent());
      const newest = await all(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 200 }));
      const own = newest.filter(({ event }) => event?.streamId === stream).map(({ event }) => event?.revision);
      expect(own).toEqual([1n, 0n]);
    });
  });
});
