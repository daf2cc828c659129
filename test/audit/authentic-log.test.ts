import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authenticLog } from '#src/audit/authentic-log.js';
import { type EmbeddedStores, openAuthenticStores } from '#src/compose/embedded/embedded-stores.js';
import { type StoredEvent, sealCommit } from '#src/events/commit.js';
import { type EventLog, ForgedLog, type StoredLog } from '#src/ports/event-log.js';
import { aBox, anEvent, aStream } from '../contract/support.js';
import { manualClock } from '../support/manual-clock.js';

const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-authentic-'));
const [stream, other] = [aStream(), aStream()];
let stores: EmbeddedStores;

/**
 * Creates two streams. The first stream has three commits, with one, three and one events. The second stream has one
 * event.
 */
beforeAll(async () => {
  const fail = (error: unknown) => {
    throw error;
  };
  stores = await openAuthenticStores(dataDir, randomBytes(32), manualClock(), fail);
  const sealed = { content: aBox(), cvc: null };
  await stores.log.append(stream, -1, [anEvent({ sealed, trace: aBox() })]);
  await stores.log.append(stream, 0, [anEvent(), anEvent(), anEvent()]);
  await stores.log.append(other, -1, [anEvent()]);
  await stores.log.append(stream, 3, [anEvent({ sealed })]);
});

afterAll(async () => {
  await stores.close();
  rmSync(dataDir, { recursive: true });
});

/** Returns a value that `JSON.parse` accepts and `JSON.stringify` does not. */
const deeplyNested = () => JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);

type Change = (events: readonly StoredEvent[]) => readonly StoredEvent[];

/** Returns an event log that reads from a store whose contents were changed. */
function changed(change: Change): EventLog {
  const { storedLog, keys } = stores;
  const whole = async (read: Promise<readonly StoredEvent[]>) => change(await read);
  const stored: StoredLog = {
    ...storedLog,
    readStream: (name) => whole(storedLog.readStream(name)),
    readAll: (after, limit) => whole(storedLog.readAll(after, limit)),
    readClear: (after, limit) => whole(storedLog.readAll(after, limit)),
    readFrom: async (name, from, limit) => (await whole(storedLog.readStream(name))).slice(from, from + limit),
    readClearFrom: async (name, from, limit) => (await whole(storedLog.readStream(name))).slice(from, from + limit),
    readNewest: async (name) => [...(await whole(storedLog.readStream(name)))].reverse(),
  };
  return authenticLog(stored, keys);
}

const at =
  (index: number, change: (event: StoredEvent) => StoredEvent): Change =>
  (events) =>
    events.map((event, position) => (position === index ? change(event) : event));

function otherLastBit(proof: StoredEvent['proof']): StoredEvent['proof'] {
  const mac = Buffer.from(proof.mac);
  mac.writeUInt8(mac.readUInt8(mac.length - 1) ^ 1, mac.length - 1);
  return { ...proof, mac };
}

test('every read method returns everything that the vault wrote', async () => {
  const log = changed((events) => events);
  expect((await log.readStream(stream)).map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4]);
  expect((await log.readFrom(stream, 1, 2)).map(({ revision }) => revision)).toEqual([1, 2]);
  expect((await log.readClearFrom(stream, 3, 10)).map(({ revision }) => revision)).toEqual([3, 4]);
  expect(await log.readAll(0, 10)).toHaveLength(6);
  expect(await log.readClear(0, 10)).toHaveLength(6);
  expect((await log.readNewest(stream, null, 10)).map(({ revision }) => revision)).toEqual([4, 3, 2, 1, 0]);
});

test.each<[string, Change]>([
  ['with another actor', at(1, (event) => ({ ...event, actorId: 'other-actor' }))],
  ['with another time', at(4, (event) => ({ ...event, time: event.time - 1 }))],
  ['with another plaintext part', at(0, (event) => ({ ...event, clear: { ends: [] } }))],
  ['with another revision', at(0, (event) => ({ ...event, revision: 1 }))],
  ['with another last bit in its code', at(0, (event) => ({ ...event, proof: otherLastBit(event.proof) }))],
  ['whose JSON is nested too deeply', at(0, (event) => ({ ...event, clear: { deep: deeplyNested() } }))],
  ['with a tenant of another type', at(0, (event) => ({ ...event, tenantId: 1 as never }))],
  ['in another stream', at(0, (event) => ({ ...event, stream: other }))],
  [
    'with a code under a separate key',
    at(0, (event) => {
      const [forged] = sealCommit(randomBytes(32), event.stream, -1, [event]).events;
      return forged === undefined ? event : { ...event, proof: forged.proof };
    }),
  ],
])('an event %s is rejected by every read method', async (_, change) => {
  const log = changed(change);
  const reads = [
    log.readStream(stream),
    log.readFrom(stream, 0, 10),
    log.readClearFrom(stream, 0, 10),
    log.readAll(0, 10),
    log.readClear(0, 10),
    log.readNewest(stream, null, 10),
  ];
  for (const read of reads) await expect(read).rejects.toThrow(ForgedLog);
});

test.each<[string, (event: StoredEvent) => StoredEvent]>([
  ['content', (event) => ({ ...event, sealed: { content: aBox(), cvc: null } })],
  ['trace', (event) => ({ ...event, trace: null })],
])('another %s is rejected by every read method that returns ciphertexts', async (_, change) => {
  const log = changed(at(0, change));
  await expect(log.readStream(stream)).rejects.toThrow('ciphertexts other than those that were sealed');
  await expect(log.readFrom(stream, 0, 10)).rejects.toThrow('ciphertexts other than those that were sealed');
  await expect(log.readAll(0, 10)).rejects.toThrow('ciphertexts other than those that were sealed');
});

test.each<[string, Change]>([
  ['without its first event', (events) => events.slice(1)],
  ['without an event in the middle', (events) => events.filter(({ revision }) => revision !== 2)],
  ['without the end of its last commit', (events) => events.slice(0, 3)],
  ['with its events in reverse order', (events) => [...events].reverse()],
  ['with its last event twice', (events) => [...events, ...events.slice(-1)]],
])('a stream %s is rejected', async (_, change) => {
  const log = changed(change);
  await expect(log.readStream(stream)).rejects.toThrow('is missing');
  await expect(log.readNewest(stream, null, 10)).rejects.toThrow('is missing');
  await expect(log.readFrom(stream, 0, 10)).rejects.toThrow('is missing');
  await expect(log.readClearFrom(stream, 0, 10)).rejects.toThrow('is missing');
});

test('an event from another stream is not accepted in place of the requested one', async () => {
  const { storedLog, keys } = stores;
  const log = authenticLog({ ...storedLog, readStream: () => storedLog.readStream(other) }, keys);
  await expect(log.readStream(stream)).rejects.toThrow('is missing');
});
