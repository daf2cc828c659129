import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { NewEvent, RecordedEvent } from '#src/events/event.js';
import type { AppendOutcome, EventLog } from '#src/ports/event-log.js';
import { aBox, anEvent, aStream, bytes } from './support.js';

export type LogUnderTest = {
  readonly log: EventLog;
  reopen(): Promise<LogUnderTest>;
  close(): Promise<void>;
};

/**
 * Defines the tests that every adapter for `EventLog` must pass. With `sharedLog`, `open` does not create a new log, so
 * the log can already contain events. No other client may append to the log during the tests.
 */
export function eventLogContract(
  name: string,
  open: () => Promise<LogUnderTest>,
  { sharedLog = false }: { readonly sharedLog?: boolean } = {},
): void {
  /** Runs a test on opened stores. `start` is the head of the log when the test begins. In a new log, it is 0. */
  const on = (run: (stores: LogUnderTest & { readonly start: number }) => Promise<void>) => async () => {
    const stores = await open();
    try {
      await run({ ...stores, start: await stores.log.head() });
    } finally {
      await stores.close();
    }
  };

  describe(`EventLog: ${name}`, () => {
    test.skipIf(sharedLog)(
      'a new log is empty',
      on(async ({ log }) => {
        expect(await log.head()).toBe(0);
        expect(await log.readAll(0, 10)).toEqual([]);
        expect(await log.readStream(aStream())).toEqual([]);
      }),
    );

    test(
      'an event is read back unchanged',
      on(async ({ log, start }) => {
        const stream = aStream();
        const event = anEvent({
          version: 7,
          actorId: 'someone',
          time: 253_402_300_799_999,
          cmd: 'c'.repeat(64),
          trace: aBox(),
          clear: { text: 'ü\u0000"\\\u2028😀', list: [1, -0.5, null, true], nested: { a: { b: [] } } },
          sealed: { content: aBox(), cvc: aBox() },
        });
        const bare = anEvent();
        const appended = await log.append(stream, -1, [event, bare]);
        const [first, second, ...others] = await log.readStream(stream);
        expect(others).toEqual([]);
        expect(plain(first)).toEqual({ ...plain(event), stream, revision: 0, position: positionsOf(appended)[0] });
        expect(plain(second)).toMatchObject({ ...plain(bare), stream, revision: 1 });
        expect((await log.readAll(start, 10)).map(plain)).toEqual([plain(first), plain(second)]);
      }),
    );

    test(
      'a large ciphertext is returned completely',
      on(async ({ log }) => {
        const content = randomBytes(900_000);
        const stream = aStream();
        await log.append(stream, -1, [anEvent({ sealed: { content, cvc: null } })]);
        const [read] = await log.readStream(stream);
        expect(content.equals(read?.sealed.content ?? Buffer.alloc(0))).toBe(true);
      }),
    );

    test.each([
      { revision: -1, what: 'as if the stream did not exist' },
      { revision: 0, what: 'at a stale revision' },
      { revision: 2, what: 'one ahead' },
      { revision: 100, what: 'far ahead' },
    ])('an append $what stores nothing', ({ revision }) =>
      on(async ({ log, start }) => {
        const stream = aStream();
        await log.append(stream, -1, [anEvent(), anEvent()]);
        const before = await log.readAll(start, 100);
        expect(await log.append(stream, revision, [anEvent(), anEvent()])).toEqual({ outcome: 'conflict' });
        expect((await log.readAll(start, 100)).map(plain)).toEqual(before.map(plain));
      })(),
    );

    test(
      'an append to a later revision of a stream that does not exist stores nothing',
      on(async ({ log, start }) => {
        const stream = aStream();
        expect(await log.append(stream, 0, [anEvent()])).toEqual({ outcome: 'conflict' });
        expect(await log.readStream(stream)).toEqual([]);
        expect(await log.head()).toBe(start);
      }),
    );

    test.each([{ start: 0 }, { start: 3 }])(
      'if 20 appends race for a stream with $start events, exactly one succeeds, and only its events are stored',
      ({ start }) =>
        on(async ({ log }) => {
          const stream = aStream();
          if (start > 0)
            await log.append(
              stream,
              -1,
              Array.from({ length: start }, () => anEvent()),
            );
          const racers = Array.from({ length: 20 }, () => [anEvent(), anEvent()]);
          const outcomes = await Promise.all(racers.map((events) => log.append(stream, start - 1, events)));
          const winners = racers.filter((_, index) => outcomes[index]?.outcome === 'appended');
          expect(winners, JSON.stringify(outcomes)).toHaveLength(1);
          const stored = (await log.readStream(stream)).slice(start).map(({ id }) => id);
          expect(stored).toEqual(winners[0]?.map(({ id }) => id));
        })(),
    );

    test(
      'an append without events throws, because it is a bug in the caller',
      on(async ({ log }) => {
        const stream = aStream();
        await expect(log.append(stream, -1, [])).rejects.toThrow();
        expect(await log.append(stream, -1, [anEvent()])).toMatchObject({ outcome: 'appended' });
      }),
    );

    test(
      'revisions have no gaps, positions increase, and an append returns the revision and position of its events',
      on(async ({ log, start }) => {
        const streams = [aStream(), aStream(), aStream()];
        const answered: number[] = [];
        for (let round = 0; round < 4; round += 1) {
          for (const stream of streams) {
            answered.push(...positionsOf(await log.append(stream, 2 * round - 1, [anEvent(), anEvent()])));
          }
        }
        const all = await log.readAll(start, 1_000);
        const positions = all.map(({ position }) => position);
        expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
        expect(positions).toEqual(answered);
        expect(positions.at(-1)).toBe(await log.head());
        for (const stream of streams) {
          const own = await log.readStream(stream);
          expect(own.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
          expect(all.filter((event) => event.stream === stream).map(plain)).toEqual(own.map(plain));
        }
      }),
    );

    test(
      'reading the plaintext parts returns all events, without their ciphertexts',
      on(async ({ log, start }) => {
        for (let count = 0; count < 5; count += 1) await log.append(aStream(), -1, [anEvent(), anEvent()]);
        let after = start;
        for (let page = await log.readAll(after, 3); page.length > 0; page = await log.readAll(after, 3)) {
          const clear = await log.readClear(after, 3);
          expect(clear).toEqual(page.map(({ sealed: _sealed, trace: _trace, ...event }) => event));
          after = page.at(-1)?.position ?? after;
        }
      }),
    );

    test.each([{ limit: 1 }, { limit: 2 }, { limit: 7 }, { limit: 25 }, { limit: 1_000 }])(
      'pages of $limit events contain the whole log between them',
      ({ limit }) =>
        on(async ({ log, start }) => {
          for (let count = 0; count < 25; count += 1) await log.append(aStream(), -1, [anEvent()]);
          const seen: RecordedEvent[] = [];
          for (let page = await log.readAll(start, limit); page.length > 0; ) {
            expect(page.length).toBeLessThanOrEqual(limit);
            seen.push(...page);
            page = await log.readAll(page.at(-1)?.position ?? 0, limit);
          }
          expect(seen.map(({ id }) => id)).toEqual((await log.readAll(start, 1_000)).map(({ id }) => id));
          expect(seen).toHaveLength(25);
          expect(await log.readAll(await log.head(), limit)).toEqual([]);
          expect(await log.readAll((await log.head()) + 1_000_000, limit)).toEqual([]);
        })(),
    );

    test(
      'every acknowledged append is visible, even if other appends run concurrently',
      on(async ({ log, start }) => {
        const writers = Array.from({ length: 8 }, async () => {
          const stream = aStream();
          for (let revision = -1; revision < 10; revision += 1) {
            await log.append(stream, revision, [anEvent()]);
            expect(await log.readStream(stream)).toHaveLength(revision + 2);
          }
        });
        await Promise.all(writers);
        expect(await log.readAll(start, 1_000)).toHaveLength(88);
      }),
    );

    test(
      'a reader that continues from its last position never misses an event',
      on(async ({ log, start }) => {
        const done = Promise.all(Array.from({ length: 100 }, () => log.append(aStream(), -1, [anEvent(), anEvent()])));
        const seen: string[] = [];
        let position = start;
        const readOn = async () => {
          for (const event of await log.readAll(position, 1_000)) {
            seen.push(event.id);
            position = event.position;
          }
        };
        let writing = true;
        done.finally(() => {
          writing = false;
        });
        while (writing) {
          await readOn();
          await new Promise(setImmediate);
        }
        await readOn();
        expect([...seen].sort()).toEqual((await log.readAll(start, 1_000)).map(({ id }) => id).sort());
      }),
    );

    test(
      'stream names that differ in any character belong to different streams',
      on(async ({ log }) => {
        const base = `token-${randomUUID()}`;
        const names = [base, `${base}a`, `${base}A`, base.slice(0, -1)];
        for (const stream of names) await log.append(stream, -1, [anEvent({ actorId: stream })]);
        for (const stream of names) {
          expect((await log.readStream(stream)).map(({ actorId }) => actorId)).toEqual([stream]);
        }
      }),
    );

    test(
      'the newest events in a stream are returned first, from its end or before a given revision, without ciphertexts',
      on(async ({ log }) => {
        const stream = aStream();
        expect(await log.readNewest(stream, null, 10)).toEqual([]);
        await log.append(stream, -1, [anEvent(), anEvent({ trace: aBox(), sealed: { content: aBox(), cvc: null } })]);
        await log.append(aStream(), -1, [anEvent()]);
        await log.append(stream, 1, [anEvent()]);
        const [zero, one, two] = (await log.readStream(stream)).map(({ trace, sealed, ...clear }) => clear);
        expect(await log.readNewest(stream, null, 10)).toEqual([two, one, zero]);
        expect(await log.readNewest(stream, null, 1)).toEqual([two]);
        expect(await log.readNewest(stream, 2, 1)).toEqual([one]);
        expect(await log.readNewest(stream, 1, 10)).toEqual([zero]);
        expect(await log.readNewest(stream, 0, 10)).toEqual([]);
      }),
    );

    test(
      'a stream can be read in parts, with or without ciphertexts',
      on(async ({ log }) => {
        const stream = aStream();
        expect(await log.readFrom(stream, 0, 10)).toEqual([]);
        expect(await log.readClearFrom(stream, 0, 10)).toEqual([]);
        await log.append(stream, -1, [anEvent(), anEvent({ trace: aBox(), sealed: { content: aBox(), cvc: aBox() } })]);
        await log.append(aStream(), -1, [anEvent()]);
        await log.append(stream, 1, [anEvent()]);
        const whole = await log.readStream(stream);
        const clear = whole.map(({ trace, sealed, ...rest }) => rest);
        for (const [from, limit] of [
          [0, 10],
          [0, 3],
          [0, 1],
          [1, 1],
          [1, 2],
          [2, 5],
          [3, 5],
        ] as const) {
          expect((await log.readFrom(stream, from, limit)).map(plain)).toEqual(
            whole.slice(from, from + limit).map(plain),
          );
          expect(await log.readClearFrom(stream, from, limit)).toEqual(clear.slice(from, from + limit));
        }
      }),
    );

    test(
      'events still exist after a restart, and the log continues after them',
      on(async ({ log, reopen, start }) => {
        const stream = aStream();
        await log.append(stream, -1, [anEvent(), anEvent()]);
        const before = await log.readAll(start, 10);
        const { log: again } = await reopen();
        expect((await again.readAll(start, 10)).map(plain)).toEqual(before.map(plain));
        expect(await again.append(stream, 0, [anEvent()])).toEqual({ outcome: 'conflict' });
        const appended = await again.append(stream, 1, [anEvent()]);
        expect(positionsOf(appended)[0]).toBeGreaterThan(before.at(-1)?.position ?? 0);
      }),
    );
  });
}

function positionsOf(appended: AppendOutcome): readonly number[] {
  if (appended.outcome !== 'appended') throw new Error('another writer got there first');
  return appended.positions;
}

function withoutProof<T extends object>(event: T): Omit<T, 'proof' | 'leaf'> {
  return Object.fromEntries(Object.entries(event).filter(([name]) => name !== 'proof' && name !== 'leaf')) as Omit<
    T,
    'proof' | 'leaf'
  >;
}

function plain(event: NewEvent | RecordedEvent | undefined): object {
  if (event === undefined) return {};
  const { trace, sealed, ...facts } = withoutProof(event);
  return { ...facts, trace: bytes(trace), content: bytes(sealed.content), cvc: bytes(sealed.cvc) };
}
