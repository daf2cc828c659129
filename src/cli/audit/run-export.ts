import { exportVersion } from '../../audit/export-line.js';
import { checkpointSchema } from '../../events/audit/checkpoint.js';
import { exists, openOutFile } from '../bulk/out-file.js';
import { showProgress } from '../bulk/progress.js';
import { untilSignal } from '../bulk/until-signal.js';
import { Failure } from '../failure.js';
import type { RunOperation } from '../run-verb.js';
import type { ExportHeader } from './export-file.js';
import { beginAudit, logLines } from './log-lines.js';

export type LogExport = {
  readonly from: number;
  /** Null: to the head. */
  readonly to: number | null;
  readonly out: string;
  readonly json: boolean;
};

/** Writes the log with its links and checkpoints to a file, sealed as it is. Answers how many events; throws Failure, and then there is no file. */
export async function exportLog(run: RunOperation, { from, to, out, json }: LogExport): Promise<number> {
  if (await exists(out)) throw new Failure(`${out} is there already; nothing was changed. Choose another name.`);
  const begin = await beginAudit(run, from);
  const { head } = begin;
  if (to !== null && to > head.position) {
    throw new Failure(`position ${to} is past the head of the log, which is ${head.position}.`);
  }
  const start = begin.from === null ? null : checkpointSchema.parse(begin.from);
  const header: ExportHeader = {
    ...{ strongroom_export: exportVersion, log_id: begin.log_id, public_key: begin.public_key },
    ...{ from: start, is_part: to !== null && to < head.position },
  };
  let lines = 0;
  const total = head.count - (start?.count ?? 0);
  const progress = () => ({ items: lines, done: lines, total, fields: { events: lines } });
  const interrupt = untilSignal(() => undefined);
  const display = showProgress(progress, { json, noun: 'events' });
  const file = await openOutFile(out);
  const write = (value: unknown) => file.write(Buffer.from(`${JSON.stringify(value)}\n`));
  try {
    await write(header);
    for await (const line of logLines(run, start?.position ?? 0, to ?? head.position)) {
      if (interrupt.came()) throw new Failure('interrupted; nothing was kept.');
      await write(line);
      lines += 1;
    }
    await write({ strongroom_export_end: { lines } });
    if (!(await file.commit())) throw new Failure(`${out} is there already; nothing was changed. Choose another name.`);
    return lines;
  } catch (error) {
    await file.abandon();
    throw error;
  } finally {
    interrupt.end();
    display.end();
  }
}
