import { type ChainedEvent, chainedEvent, type ExportLine } from '../../audit/export-line.js';
import { signatureProblem } from '../../audit/verify/check-checkpoint.js';
import type { Problem } from '../../audit/verify/problem.js';
import { type AccessReport, type LinedBatch, verifyAccess } from '../../audit/verify/verify-access.js';
import { type LogReport, verifyLog } from '../../audit/verify/verify-log.js';
import { type Checkpoint, checkpointSchema } from '../../events/audit/checkpoint.js';
import { showProgress } from '../bulk/progress.js';
import { Failure } from '../failure.js';
import type { RunOperation } from '../run-verb.js';
import { openExport } from './export-file.js';
import { beginAudit, logLines } from './log-lines.js';
import { readAnchor } from './read-anchor.js';

const keptMonths = 13;

export type VerifyOptions = {
  readonly from: number;
  /** Null: to the head. */
  readonly to: number | null;
  readonly anchor: string | null;
  /** Null: the one that comes with what is verified. */
  readonly publicKey: string | null;
  readonly json: boolean;
};

export type Verification = {
  readonly log: LogReport;
  /** Null: an export holds none, or the log had a problem. */
  readonly access: AccessReport | null;
  readonly problem: Problem | null;
  readonly anchored: number;
  readonly unreadableAnchorLines: number;
};

type Source = {
  readonly lines: AsyncIterable<ExportLine>;
  readonly total: number | null;
  readonly key: string;
  readonly logId: string | null;
  readonly from: Checkpoint | null;
  readonly isPart: boolean;
};

/** Verifies the vault itself: its log, and its access log. */
export async function verifyVault(run: RunOperation, options: VerifyOptions): Promise<Verification> {
  const { from, to } = options;
  const begin = await beginAudit(run, from);
  const { head, log_id: logId, chains } = begin;
  if (to !== null && to > head.position) {
    throw new Failure(`position ${to} is past the head of the log, which is ${head.position}.`);
  }
  const start = begin.from === null ? null : checkpointSchema.parse(begin.from);
  const verified = await verifySource(options, {
    lines: logLines(run, start?.position ?? 0, to ?? head.position),
    ...{ total: head.count - (start?.count ?? 0), key: begin.public_key, logId, from: start, isPart: to !== null },
  });
  // The checkpoints of a part sign only some of the chains.
  if (verified.problem !== null || from > 1 || to !== null) return verified;
  const batches = async (chain: string, after: number) =>
    ((await run('audit-access', { chain, after })) as unknown as { readonly batches: readonly LinedBatch[] }).batches;
  const access = await verifyAccess(chains, batches, verified.log.checkpoints, keptFrom(Date.now()));
  return { ...verified, access, problem: access.problem };
}

/** Verifies an export, with nothing but the file. */
export async function verifyExport(path: string, options: VerifyOptions): Promise<Verification> {
  const { header, lines } = await openExport(path);
  const { public_key: key, log_id: logId, from, is_part: isPart } = header;
  return verifySource(options, { lines, total: null, key, logId, from, isPart });
}

async function verifySource(options: VerifyOptions, source: Source): Promise<Verification> {
  const { key, logId, from, isPart, total } = source;
  const publicKey = options.publicKey ?? key;
  const wrong = from === null ? null : signatureProblem(from, publicKey);
  if (wrong !== null) throw new Failure(`${wrong}.`, 3);
  const anchor = options.anchor === null ? null : await readAnchor(options.anchor, publicKey, logId);
  let done = 0;
  async function* counted(): AsyncGenerator<ChainedEvent> {
    for await (const line of source.lines) {
      done += 1;
      yield chainedEvent(line);
    }
  }
  const progress = () => ({ items: done, done, total, fields: { events: done } });
  const display = showProgress(progress, { json: options.json, noun: 'events' });
  try {
    const anchored = anchor?.checkpoints ?? new Map<number, Checkpoint>();
    const log = await verifyLog(counted(), { publicKey, logId, from, anchored, isPart });
    const unreadableAnchorLines = anchor?.unreadable ?? 0;
    return { log, access: null, problem: log.problem, anchored: anchored.size, unreadableAnchorLines };
  } finally {
    display.end();
  }
}

/** Batches before may be gone, because months are dropped in whole. */
function keptFrom(now: number): number {
  const today = new Date(now);
  return Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - keptMonths + 1, 1);
}
