import { batchHash, mayShareLine } from '../../../events/access-log/batch-hash.js';
import { accessLogError } from '../access-log/access-log-error.js';
import { newestMovedBatch } from '../access-log/batch-mover.js';
import { fileIdentity } from '../access-log/month-files.js';
import { pauseAfterFailure } from '../access-log/pause-after-failure.js';
import type { Attempt } from '../database/group-commit.js';
import type { Journal, JournalBatch, JournalEnd } from '../journal/journal.js';
import type { Background, FromBackground } from './background.js';
import type { AccessRequest, RecordRequest } from './protocol.js';
import { errorOf } from './thread-failure.js';

/**
 * A move begins when `moveEntries` entries are waiting to be moved, or `moveAfterMs` ms after an entry was appended.
 */
const moveEntries = 8_000;
const moveAfterMs = 1_000;
/**
 * The maximum number of entries that can wait to be moved (about 16 MB). If there are more, new records have to wait.
 */
const unmovedEntriesMax = 50_000;
const batchBytesMax = 256 * 1024;

type Done = Exclude<FromBackground, { readonly task: 'checkpoint' }>;

/** A request to record entries. `error` is the reason why the entries could not be recorded, or null. */
type Recorded = { readonly request: RecordRequest; readonly error: Error | null };

export type RecordGroup = { readonly recorded: readonly Recorded[]; readonly batches: readonly JournalBatch[] };

type AccessJournalDeps = {
  readonly dataDir: string;
  readonly journal: Journal;
  readonly background: Pick<Background, 'send'>;
  /** Replies to a request that waited for a move or a drop. */
  readonly reply: (request: AccessRequest, attempt: Attempt) => void;
  /** Called after each move, with the reason why it failed, or null. */
  readonly onMoved: (failure: Error | null) => void;
};

/**
 * Combines access records into batches for the journal, and has the background thread move the batches into the month
 * files.
 */
export function createAccessJournal({ dataDir, journal, background, reply, onMoved }: AccessJournalDeps) {
  let head: JournalEnd | null = null;
  const pausing = pauseAfterFailure();
  /** The batches that have been appended to the journal but not yet moved, with the number of entries in each. */
  let unmoved: { readonly sequence: number; readonly entries: number }[] = [];
  let unmovedEntries = 0;
  let moving = false;
  /** True if all batches that were in the journal when the process started have been moved. */
  let isCurrent = false;
  let failure: Error | null = null;
  let timer: NodeJS.Timeout | null = null;
  const settling: { readonly request: AccessRequest; readonly upTo: number }[] = [];
  const onceMoved: (() => void)[] = [];
  const dropping = new Map<number, AccessRequest>();
  // Starts the timer immediately, because the journal may still contain batches from a process that was killed.
  setMoveTimer();

  function setMoveTimer(): void {
    timer ??= setTimeout(startMove, moveAfterMs);
  }

  function startMove(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (moving) return;
    moving = true;
    background.send({ task: 'move' });
  }

  /**
   * Adds the lines in these requests to the chain as batches. If entries cannot be recorded for a month, only the
   * requests for that month fail.
   */
  function group(requests: readonly RecordRequest[]): RecordGroup {
    const recorded: Recorded[] = [];
    const batches: JournalBatch[] = [];
    let last: JournalEnd | null = null;
    let parts: string[] = [];
    let length = 0;
    const endBatch = (): void => {
      if (last === null || parts.length === 0) return;
      const batch = batchAfter(last, parts.join('\n'));
      batches.push(batch);
      last = batch;
      parts = [];
      length = 0;
    };
    let month: string | null = null;
    for (const request of requests) {
      const error = request.input.isLast ? chainObstacle() : obstacle(request.input.month);
      recorded.push({ request, error });
      if (error !== null) continue;
      last ??= head;
      const { lines } = request.input;
      const isFull = length + lines.length > batchBytesMax;
      if (isFull || month !== request.input.month || mayShareLine(parts.at(-1) ?? '', lines)) endBatch();
      month = request.input.month;
      parts.push(lines);
      length += lines.length;
    }
    endBatch();
    return { recorded, batches };
  }

  /** Returns null if entries can be recorded for a month. Otherwise returns an error with the reason. */
  function obstacle(month: string): Error | null {
    try {
      // Throws if something other than a file exists at the path of the month file.
      fileIdentity(dataDir, month);
      head ??= pausing(() => newer(journal.endOfBatches(), newestMovedBatch(dataDir)));
      return null;
    } catch (error) {
      return accessLogError(error);
    }
  }

  /**
   * Returns null if entries can be added to the chain, even if they cannot be moved now. The journal knows the end of
   * the chain, because every batch is in the journal before it is moved. After a restore, the journal is empty, so the
   * end is read from the month files.
   */
  function chainObstacle(): Error | null {
    try {
      const end = journal.endOfBatches();
      head ??= end.sequence > 0 ? end : newer(end, newestMovedBatch(dataDir));
      return null;
    } catch (error) {
      return accessLogError(error);
    }
  }

  function onDone(done: Done): void {
    journal.batchesAreStored(done.moved);
    unmoved = unmoved.filter(({ sequence }) => sequence > done.moved);
    unmovedEntries = unmoved.reduce((sum, { entries }) => sum + entries, 0);
    if (done.task === 'drop') onDropped(done);
    else onMoveDone(done);
  }

  function onMoveDone(done: Extract<Done, { readonly task: 'move' }>): void {
    moving = false;
    failure = done.failure === null ? null : errorOf(done.failure);
    isCurrent ||= failure === null;
    if (unmoved.length > 0) setMoveTimer();
    const waiting = settling.splice(0);
    for (const { request, upTo } of waiting) {
      if (failure !== null) reply(request, { ok: false, error: failure });
      else if (upTo <= done.moved) reply(request, { ok: true, answer: null });
      else settling.push({ request, upTo });
    }
    if (settling.length + onceMoved.length > 0) startMove();
    if (failure !== null || unmoved.length === 0) for (const resolve of onceMoved.splice(0)) resolve();
    onMoved(failure);
  }

  function onDropped({ id, months, failure: failed }: Extract<Done, { readonly task: 'drop' }>): void {
    const request = dropping.get(id);
    dropping.delete(id);
    // Removes the moved batches from the journal. Otherwise, the next start would move them again and recreate the
    // removed files. If this fails, the caller drops the months again. A failed drop may have removed some files.
    const unremoved = journal.removeStored();
    const error = failed === null ? unremoved : errorOf(failed);
    if (request !== undefined) reply(request, error === null ? { ok: true, answer: months } : { ok: false, error });
  }

  return {
    group,
    /** Records that the batches of a group have been appended to the journal. */
    appended({ recorded, batches }: RecordGroup): void {
      const last = batches.at(-1);
      if (last === undefined) return;
      head = last;
      const entries = recorded.reduce(
        (sum, { request, error }) => sum + (error === null ? request.input.entries : 0),
        0,
      );
      unmoved.push({ sequence: last.sequence, entries });
      unmovedEntries += entries;
      if (unmovedEntries >= moveEntries) startMove();
      else setMoveTimer();
    },
    /**
     * Returns true if new records must wait for a move. New records wait after a failed move, because only another move
     * can show whether the problem still exists. They also wait if too many entries have not been moved.
     */
    isHeld: (): boolean => failure !== null || unmovedEntries >= unmovedEntriesMax,
    startMove,
    /** Replies to `request` when all batches that were appended before this call are in the month files. */
    settle(request: AccessRequest): void {
      const upTo = unmoved.at(-1)?.sequence ?? 0;
      if (isCurrent && upTo === 0) {
        reply(request, { ok: true, answer: null });
        return;
      }
      settling.push({ request, upTo });
      startMove();
    },
    drop(request: Extract<AccessRequest, { readonly operation: 'drop_access' }>): void {
      dropping.set(request.id, request);
      background.send({ task: 'drop', ...request.input, id: request.id });
    },
    onDone,
    /** Resolves when all batches in the journal have been moved to the month files, or when a move has failed. */
    moved(): Promise<void> {
      return new Promise((resolve) => {
        onceMoved.push(resolve);
        startMove();
      });
    },
    stop(): void {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

function batchAfter({ sequence: before, hash: previous }: JournalEnd, lines: string): JournalBatch {
  const sequence = before + 1;
  return { sequence, previous, hash: batchHash(previous, sequence, [lines]), lines };
}

function newer(one: JournalEnd, other: JournalEnd): JournalEnd {
  return one.sequence >= other.sequence ? one : other;
}
