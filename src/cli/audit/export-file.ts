import { z } from 'zod';
import { type ExportLine, exportLine, exportVersion } from '../../audit/export-line.js';
import { checkpointSchema } from '../../events/audit/checkpoint.js';
import { Failure } from '../failure.js';
import { readLines } from './read-text-lines.js';

/** The first line of an export. */
export const exportHeader = z.object({
  strongroom_export: z.literal(exportVersion),
  log_id: z.string().nullable(),
  /** Names the key that signed; trusted no more than the file. */
  public_key: z.string(),
  /** The checkpoint after whose position the events begin; null: they begin with the first. */
  from: checkpointSchema.nullable(),
  /** Whether the log went on after the last event. */
  is_part: z.boolean(),
});

export type ExportHeader = z.output<typeof exportHeader>;

/** The last line: without it the file was cut. */
export const exportEnd = z.object({ strongroom_export_end: z.object({ lines: z.int().min(0) }) });

/** The header of an export, and its events; reading on throws Failure where the file is damaged. */
export async function openExport(
  path: string,
): Promise<{ readonly header: ExportHeader; readonly lines: AsyncGenerator<ExportLine> }> {
  const texts = readLines(path);
  const first = await texts.next();
  const header = first.done === true ? null : exportHeader.safeParse(jsonOf(first.value));
  if (header?.success !== true) throw new Failure(`${path} is no export of a log by this version of Strongroom.`);
  return { header: header.data, lines: linesOf(path, texts) };
}

async function* linesOf(path: string, texts: AsyncGenerator<string>): AsyncGenerator<ExportLine> {
  let read = 0;
  for await (const text of texts) {
    const json = jsonOf(text);
    const end = exportEnd.safeParse(json);
    if (end.success) {
      if (end.data.strongroom_export_end.lines === read) return;
      throw new Failure(`${path} is damaged: lines are missing, or there are too many.`, 3);
    }
    const line = exportLine.safeParse(json);
    read += 1;
    if (!line.success) throw new Failure(`${path} is damaged in line ${read + 1}.`, 3);
    yield line.data;
  }
  throw new Failure(`${path} is damaged: its end is missing.`, 3);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
