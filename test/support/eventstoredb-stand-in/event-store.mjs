import { randomUUID } from 'node:crypto';

/**
 * @typedef {{ id: string, type: string, contentType: string, data: Buffer, metadata: Buffer }} ProposedEvent
 * @typedef {ProposedEvent & { stream: string, revision: number, position: number, created: number }} StoredEvent
 * @typedef {number | 'any' | 'stream_exists'} Expected The revision of the last event; -1 means no stream.
 * @typedef {{ stream: string, expected: Expected, events: ProposedEvent[] }} AppendRequest
 * @typedef {{ outcome: 'appended', revision: number, position: number }
 *   | { outcome: 'wrong_expected_version', revision: number }
 *   | { outcome: 'too_large' }} AppendAnswer
 */

export const maxAppendBytes = 1024 * 1024;
const systemEventEvery = 5;

/**
 * Stores the streams and the log of all events, in memory and in the journal. Appends that arrive while the disk is
 * busy are decided together, and share one sync. An event cannot be read until it is on disk.
 * @param {Awaited<ReturnType<typeof import('./journal.mjs').openJournal>>} journal
 * @param {{ knowsRepeats: boolean }} options
 */
export async function createEventStore(journal, { knowsRepeats }) {
  /** @type {Map<string, StoredEvent[]>} */
  const streams = new Map();
  /** @type {StoredEvent[]} */
  const all = [];
  let durablePosition = -1;
  let nextPosition = 0;
  let appends = 0;

  /** @param {StoredEvent} event */
  const keep = (event) => {
    const stream = streams.get(event.stream) ?? [];
    streams.set(event.stream, stream);
    stream.push(event);
    all.push(event);
    nextPosition = event.position + sizeOf(event) + 100;
  };
  for (const append of journal.recovered) for (const event of fromLine(append)) keep(event);
  durablePosition = all.at(-1)?.position ?? -1;

  /** @param {string} stream @param {ProposedEvent[]} events */
  const write = (stream, events) => {
    const created = Date.now();
    const stored = events.map((event) => {
      // In a real server, a position is a byte offset in a log that also contains other records, so there are gaps
      // between the positions.
      const position = nextPosition + 67;
      const kept = { ...event, stream, revision: streams.get(stream)?.length ?? 0, position, created };
      keep(kept);
      return kept;
    });
    return toLine(stored);
  };

  /** @param {AppendRequest} request @param {unknown[]} lines @returns {AppendAnswer} */
  const decide = ({ stream, expected, events }, lines) => {
    const stored = streams.get(stream) ?? [];
    const last = stored.length - 1;
    if (events.reduce((bytes, event) => bytes + sizeOf(event), 0) > maxAppendBytes) return { outcome: 'too_large' };
    if (events.length === 0) return { outcome: 'appended', revision: Math.max(last, 0), position: 0 };
    if (expected === 'stream_exists' && last < 0) return { outcome: 'wrong_expected_version', revision: last };

    const isOpen = expected === 'any' || expected === 'stream_exists';
    // Finds the place where this append would begin. If the stored events at that place have the same ids, this append
    // is a retry. The data of the events is not compared.
    const start = isOpen ? stored.findLastIndex(({ id }) => id === events[0]?.id) : expected + 1;
    if ((isOpen && start < 0) || expected === last) {
      lines.push(write(stream, events));
      appends += 1;
      if (appends % systemEventEvery === 0)
        lines.push(write('$stats-127.0.0.1:2113', [systemEvent('$statsCollected')]));
      return answerAt(streams.get(stream)?.[last + events.length]);
    }
    const isRepeat = knowsRepeats && events.every(({ id }, index) => stored[start + index]?.id === id);
    if (isRepeat) return answerAt(stored[start + events.length - 1]);
    return { outcome: 'wrong_expected_version', revision: last };
  };

  /** @type {{ request: AppendRequest, resolve: (answer: AppendAnswer) => void, reject: (error: unknown) => void }[]} */
  let waiting = [];
  let isWriting = false;
  const writeWaiting = async () => {
    if (isWriting) return;
    isWriting = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      /** @type {unknown[]} */
      const lines = [];
      const answers = group.map(({ request }) => decide(request, lines));
      const position = all.at(-1)?.position ?? -1;
      try {
        if (lines.length > 0) await journal.write(lines);
        durablePosition = position;
        group.forEach(({ resolve }, index) => {
          resolve(/** @type {AppendAnswer} */ (answers[index]));
        });
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    isWriting = false;
  };

  if (all.length === 0) {
    await journal.write([
      write('$$$stats-127.0.0.1:2113', [systemEvent('$metadata')]),
      write('$user-admin', [systemEvent('$UserCreated')]),
    ]);
    durablePosition = all.at(-1)?.position ?? -1;
  }

  /** @param {readonly StoredEvent[]} events */
  const onDisk = (events) => {
    if ((events.at(-1)?.position ?? -1) <= durablePosition) return events;
    const unwritten = events.findIndex(({ position }) => position > durablePosition);
    return unwritten < 0 ? events : events.slice(0, unwritten);
  };

  return {
    /**
     * Appends events. Rejects if this process is no longer the leader of its cluster.
     * @param {AppendRequest} request @returns {Promise<AppendAnswer>}
     */
    append(request) {
      return new Promise((resolve, reject) => {
        waiting.push({ request, resolve, reject });
        void writeWaiting();
      });
    },
    /** Returns the events in a stream, or an empty list if the stream does not exist. @param {string} name */
    stream: (name) => onDisk(streams.get(name) ?? []),
    all: () => onDisk(all),
  };
}

/** @param {StoredEvent | undefined} event @returns {AppendAnswer} */
function answerAt(event) {
  if (event === undefined) throw new Error('the event was just stored');
  return { outcome: 'appended', revision: event.revision, position: event.position };
}

/** @param {ProposedEvent} event */
function sizeOf({ type, data, metadata }) {
  return data.length + metadata.length + 2 * type.length;
}

/** @param {string} type @returns {ProposedEvent} */
function systemEvent(type) {
  const json = Buffer.from('{}');
  return { id: randomUUID(), type, contentType: 'application/json', data: json, metadata: Buffer.alloc(0) };
}

/** @param {readonly StoredEvent[]} events */
function toLine(events) {
  return events.map(({ data, metadata, ...event }) => ({
    ...event,
    data: data.toString('base64'),
    metadata: metadata.toString('base64'),
  }));
}

/** @param {any} line @returns {StoredEvent[]} */
function fromLine(line) {
  return line.map((/** @type {any} */ { data, metadata, ...event }) => ({
    ...event,
    data: Buffer.from(data, 'base64'),
    metadata: Buffer.from(metadata, 'base64'),
  }));
}
