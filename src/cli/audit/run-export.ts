import { type ExportLine, exportVersion } from '../../audit/export-line.js';
import { type Checkpoint, checkpointSchema, checkpointStream } from '../../events/audit/checkpoint.js';
import { Failure } from '../failure.js';
import { expectFree, writeNewFile } from '../files/out-file.js';
import { showProgress } from '../files/progress.js';
import { untilSignal } from '../files/until-signal.js';
import { writeError } from '../print.js';
import type { RunOperation } from '../run-command.js';
import { accessBatches } from './access-batches.js';
import type { ExportHeader } from './export-file.js';
import { beginAudit, logLines } from './log-lines.js';

export type LogExport = {
  readonly from: number;
  /** The position of the last event to export. If null, the export continues to the head. */
  readonly to: number | null;
  readonly out: string;
  readonly json: boolean;
};

export type Exported = { readonly events: number; readonly batches: number };

/**
 * Writes the log, with its links and checkpoints, and the access log to a file. If the export ends before the head,
 * writes only the part of the access log covered by the exported checkpoints. Sealed values stay encrypted. If the
 * function throws Failure, it leaves no file behind.
 */
export async function exportLog(run: RunOperation, { from, to, out, json }: LogExport): Promise<Exported> {
  await expectFree(out);
  const begin = await beginAudit(run, from, { exports: true });
  if (begin.unrecorded !== null) writeError(`${begin.unrecorded}\n`);
  const { head } = begin;
  const refuse = (what: string): never => {
    throw new Failure(`${what}; no file was written. Run \`strongroom audit verify\`.`, 3);
  };
  if (begin.forged !== null) refuse(begin.forged);
  if (to !== null && to > head.position) {
    throw new Failure(`position ${to} is after the end of the log (position ${head.position}).`);
  }
  const start = begin.from === null ? null : checkpointSchema.parse(begin.from);
  const header: ExportHeader = {
    strongroom_export: exportVersion,
    log_id: begin.log_id,
    made_at: Date.now(),
    public_key: begin.public_key,
    from: start,
    is_part: to !== null && to < head.position,
  };
  const isPart = header.is_part;
  const checkpoints: Checkpoint[] = [];
  let [events, batches] = [0, 0];
  let phase: string | null = null;
  let position = start?.position ?? 0;
  // Measures progress by position, because the total number of events is unknown.
  const [first, last] = [position, to ?? head.position];
  const progress = () => ({
    items: events,
    done: position - first,
    total: last - first,
    phase,
    fields: { events, batches },
  });
  const interrupt = untilSignal(() => undefined);
  const display = showProgress(progress, { json, noun: 'event' });
  const expectNoInterrupt = () => {
    if (interrupt.came()) throw new Failure('interrupted; no file was written.');
  };
  try {
    await writeNewFile(out, async (writeBytes) => {
      const write = (value: unknown) => writeBytes(Buffer.from(`${JSON.stringify(value)}\n`));
      await write(header);
      for await (const line of logLines(run, first, last, refuse, refuse)) {
        expectNoInterrupt();
        await write(line);
        events += 1;
        position = line.position;
        const checkpoint = checkpointIn(line);
        if (checkpoint !== null) checkpoints.push(checkpoint);
      }
      phase = 'copying the access log';
      for await (const access of accessBatches(run, begin, isPart, checkpoints)) {
        expectNoInterrupt();
        await write({ access });
        batches += 1;
      }
      phase = 'saving the file to disk';
      await write({ strongroom_export_end: { lines: events + batches } });
    });
    return { events, batches };
  } finally {
    interrupt.end();
    display.end();
  }
}

/**
 * Returns the checkpoint in a line. Returns null if the line contains no checkpoint, or an unreadable one. A
 * verification of the export reports unreadable checkpoints.
 */
function checkpointIn({ event }: ExportLine): Checkpoint | null {
  if (event?.stream !== checkpointStream) return null;
  return checkpointSchema.safeParse({ ...event.clear, time: event.time }).data ?? null;
}
