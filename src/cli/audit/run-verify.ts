import { setTimeout as wait } from 'node:timers/promises';
import { signatureProblem } from '../../audit/check-checkpoint.js';
import { type ChainedEvent, chainedEvent, type ExportLine } from '../../audit/export-line.js';
import { createLiveCount, type LiveCount } from '../../audit/verify/live-count.js';
import type { Problem } from '../../audit/verify/problem.js';
import { type AccessReport, type ChainBatch, verifyAccess } from '../../audit/verify/verify-access.js';
import { type LogReport, verifyLog } from '../../audit/verify/verify-log.js';
import { mustContainFrom } from '../../events/access-log/retention.js';
import { type Checkpoint, checkpointSchema, readCheckpointLine } from '../../events/audit/checkpoint.js';
import { checkAllRows } from '../doctor/check-all-rows.js';
import { Failure } from '../failure.js';
import { type ShowProgress, showProgress } from '../files/progress.js';
import { forgedText } from '../forged-row-text.js';
import type { RunOperation } from '../run-command.js';
import { accessBatches } from './access-batches.js';
import { openExport } from './export-file.js';
import { beginAudit, logLines } from './log-lines.js';
import { readLines } from './read-text-lines.js';

/** How long a row may be behind the log, in milliseconds. */
const rowsBehindMs = 5_000;
/** The maximum number of forged events that an error message describes. */
const forgedMax = 5;

export type VerifyOptions = {
  readonly from: number;
  /** The position of the last event to verify. If null, the verification continues to the head. */
  readonly to: number | null;
  readonly anchor: string | null;
  /** The public key to verify with. If null, the verification uses the key from the log or the export. */
  readonly publicKey: string | null;
  readonly json: boolean;
  /** The function that shows the progress. The default is `showProgress`. */
  readonly show?: ShowProgress;
};

export type Verification = {
  readonly log: LogReport;
  /**
   * The result for the access log. Null if the log has a problem, because in that case the access log is not verified.
   */
  readonly access: AccessReport | null;
  /**
   * The number of rows that were checked, or null if no rows were checked. Rows are checked only if the whole log of a
   * vault was verified and has no problem.
   */
  readonly rows: number | null;
  readonly problem: Problem | null;
  readonly anchored: number;
  readonly unreadableAnchorLines: number;
  /** The public key in PEM format, and where it came from: the caller, or the vault or the export itself. */
  readonly key: { readonly publicKey: string; readonly origin: KeyOrigin };
};

type KeyOrigin = 'given' | 'vault' | 'export';

type Source = {
  readonly lines: AsyncIterable<ExportLine>;
  /**
   * Returns the access log batches. Call it after you have read `lines` to the end, because those lines contain the
   * checkpoints.
   */
  readonly access: (checkpoints: readonly Checkpoint[]) => AsyncIterable<ChainBatch>;
  /** The position of the last event, or null if that position is unknown. */
  readonly last: number | null;
  readonly key: string;
  readonly keyOrigin: KeyOrigin;
  readonly logId: string | null;
  readonly from: Checkpoint | null;
  readonly isPart: boolean;
  /** The vault may have dropped access log batches that are older than this time (ms since the epoch). */
  readonly mustContainFrom: number;
};

/**
 * Verifies a vault: its log, its access log, and its rows. The rows are verified too, because the vault serves reads
 * from the rows and not from the log.
 */
export async function verifyVault(run: RunOperation, options: VerifyOptions): Promise<Verification> {
  const { from, to } = options;
  const begin = await beginAudit(run, from, { exports: false });
  const { head, log_id: logId } = begin;
  if (to !== null && to > head.position) {
    throw new Failure(`position ${to} is after the end of the log (position ${head.position}).`);
  }
  const start = begin.from === null ? null : checkpointSchema.parse(begin.from);
  const isPart = to !== null;
  const forged: string[] = [];
  const live = createLiveCount();
  const unreadable: string[] = [];
  const lines = logLines(
    run,
    start?.position ?? 0,
    to ?? head.position,
    (what) => forged.push(what),
    (what) => unreadable.push(what),
  );
  const verified = await verifySource(options, {
    lines: noting(live, lines),
    access: (checkpoints) => accessBatches(run, begin, isPart, checkpoints),
    last: to ?? head.position,
    key: begin.public_key,
    keyOrigin: 'vault',
    logId,
    from: start,
    isPart,
    mustContainFrom: mustContainFrom(Date.now()),
  });
  // The events after the unreadable one were not read, so `verified` may report that they are missing.
  const [malformed] = unreadable;
  if (malformed !== undefined) {
    return { ...verified, access: null, problem: { kind: 'forged', position: null, message: malformed } };
  }
  if (verified.problem !== null) return verified;
  const isBehind = begin.is_behind && !isPart;
  if (begin.forged !== null && !isBehind) forged.push(begin.forged);
  if (forged.length > 0) {
    return { ...verified, problem: { kind: 'forged', position: null, message: forged.slice(0, forgedMax).join('; ') } };
  }
  if (isPart) return verified;
  if (isBehind) {
    const message =
      'the log was truncated, or is an older copy: the key store has recorded events after position ' +
      `${head.position}`;
    return { ...verified, problem: { kind: 'cut_tail', position: head.position, message } };
  }
  const checked = await checkAllRows(run, options);
  const { rows, problems } = checked;
  if (problems.length > 0) {
    return { ...verified, rows, problem: { kind: 'forged_row', position: null, message: forgedText(problems) } };
  }
  if (start !== null || (await haveRows(run, options, live, head.position, checked.live))) return { ...verified, rows };
  const message =
    'live tokens of the log have no row, so the vault does not find them; find out what removed the rows, ' +
    'and run `strongroom projections rebuild tokens`';
  return { ...verified, rows, problem: { kind: 'missing_row', position: null, message } };
}

async function* noting(live: LiveCount, lines: AsyncIterable<ExportLine>): AsyncGenerator<ExportLine> {
  for await (const line of lines) {
    if (line.event !== null) live.note(line.event);
    yield line;
  }
}

/**
 * Returns false if the rows of live tokens are fewer than the tokens that were live while the rows were counted. `live`
 * counts the tokens at the position `head`, and `rows` is the number of rows that were counted afterwards. In the
 * cluster profile, a row is written shortly after its event, so the rows are counted again before the result is false.
 */
async function haveRows(
  run: RunOperation,
  options: VerifyOptions,
  live: LiveCount,
  head: number,
  rows: number,
): Promise<boolean> {
  let [upTo, counted] = [head, rows];
  const ignored = () => undefined;
  for (const isLast of [false, true]) {
    const { head: now } = await beginAudit(run, 1, { exports: false });
    for await (const { event } of logLines(run, upTo, now.position, ignored, ignored)) {
      if (event !== null) live.noteEnd(event);
    }
    upTo = now.position;
    if (counted >= live.total()) return true;
    if (isLast) break;
    await wait(rowsBehindMs);
    counted = (await checkAllRows(run, options)).live;
  }
  return false;
}

/**
 * Verifies an export. Uses only the file. If the caller gives a public key, a checkpoint must be signed with it, because
 * otherwise nothing connects the export with the caller's vault.
 */
export async function verifyExport(path: string, options: VerifyOptions): Promise<Verification> {
  const { header, lines, access } = await openExport(path);
  const { public_key: key, log_id: logId, from, is_part: isPart, made_at: madeAt } = header;
  const verified = await verifySource(options, {
    lines,
    access: () => access,
    last: null,
    key,
    keyOrigin: 'export',
    logId,
    from,
    isPart,
    // Threat: an attacker removes batches and sets the time of the export to a later time, so that the vault appears to
    // have dropped these batches because of their age.
    mustContainFrom: mustContainFrom(Math.min(madeAt, Date.now())),
  });
  if (options.publicKey === null || verified.problem !== null || verified.log.proven !== null) return verified;
  // Threat: the links need no key, so anyone can write an export without checkpoints.
  const message =
    'no checkpoint in this export is signed with the given public key, so the export may come from anywhere. Export ' +
    'the log up to a later position: the vault signs a checkpoint every hour and when it stops';
  return { ...verified, problem: { kind: 'unsigned', position: null, message } };
}

async function verifySource(options: VerifyOptions, source: Source): Promise<Verification> {
  const { logId, from, isPart, last } = source;
  const publicKey = options.publicKey ?? source.key;
  const key = { publicKey, origin: options.publicKey === null ? source.keyOrigin : 'given' } as const;
  const wrong = from === null ? null : signatureProblem(from, publicKey);
  if (wrong !== null) throw new Failure(`${wrong}.`, 3);
  const anchor = options.anchor === null ? null : await readAnchor(options.anchor, publicKey, logId);
  // Measures progress by position, because the total number of events is unknown.
  const first = from?.position ?? 0;
  let [events, position] = [0, first];
  let phase: string | null = null;
  async function* counted(): AsyncGenerator<ChainedEvent> {
    for await (const line of source.lines) {
      events += 1;
      position = line.position;
      yield chainedEvent(line);
    }
  }
  const progress = () => ({
    items: events,
    done: position - first,
    total: last === null ? null : last - first,
    phase,
    fields: { events },
  });
  const display = (options.show ?? showProgress)(progress, { json: options.json, noun: 'event' });
  try {
    const anchored = anchor?.checkpoints ?? new Map<number, Checkpoint>();
    const log = await verifyLog(counted(), { publicKey, logId, from, anchored, isPart });
    const found = { log, rows: null, anchored: anchored.size, unreadableAnchorLines: anchor?.unreadable ?? 0, key };
    if (log.problem !== null) return { ...found, access: null, problem: log.problem };
    const checkpoints = log.checkpoints.filter((checkpoint) => checkpoint !== from);
    phase = 'verifying the access log';
    const access = await verifyAccess(source.access(checkpoints), {
      checkpoints,
      from,
      mustContainFrom: source.mustContainFrom,
    });
    return { ...found, access, problem: access.problem };
  } finally {
    display.end();
  }
}

type AnchorFile = {
  readonly checkpoints: ReadonlyMap<number, Checkpoint>;
  /** The number of lines that are not checkpoints. A crash can leave a truncated line. */
  readonly unreadable: number;
};

/**
 * Returns the checkpoints in an anchor file, by number. Throws Failure if a checkpoint belongs to a different log, was
 * not signed with this key, or contradicts another checkpoint.
 */
async function readAnchor(path: string, publicKey: string, logId: string | null): Promise<AnchorFile> {
  const checkpoints = new Map<number, Checkpoint>();
  let unreadable = 0;
  for await (const line of readLines(path)) {
    if (line === '') continue;
    const checkpoint = readCheckpointLine(line);
    if (checkpoint === null) {
      unreadable += 1;
      continue;
    }
    const { number, log_id: of, signature } = checkpoint;
    if (logId !== null && of !== logId) throw new Failure(`${path} is the anchor of another log.`, 3);
    const wrong = signatureProblem(checkpoint, publicKey);
    if (wrong !== null) throw new Failure(`in ${path}, ${wrong}.`, 3);
    if ((checkpoints.get(number)?.signature ?? signature) !== signature) {
      throw new Failure(`${path} contains two different checkpoints with the number ${number}.`, 3);
    }
    checkpoints.set(number, checkpoint);
  }
  if (checkpoints.size === 0)
    throw new Failure(`${path} contains no checkpoints. Use the file that audit.anchor writes to.`);
  return { checkpoints, unreadable };
}
