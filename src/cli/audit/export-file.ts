import { z } from 'zod';
import { type ExportLine, exportLine, exportVersion } from '../../audit/export-line.js';
import type { ChainBatch } from '../../audit/verify/verify-access.js';
import { checkpointSchema } from '../../events/audit/checkpoint.js';
import { Failure } from '../failure.js';
import { jsonOrNull } from '../files/json-or-null.js';
import { readLines } from './read-text-lines.js';

/** The first line of an export. */
export const exportHeader = z.object({
  strongroom_export: z.literal(exportVersion),
  log_id: z.string().nullable(),
  /**
   * The time of the export, in ms since the epoch. By that time, the vault may have dropped old months of the access
   * log.
   */
  made_at: z.int().min(0),
  /** The public key that verifies the checkpoints. It is only as trustworthy as the file that contains it. */
  public_key: z.string(),
  /** The last checkpoint before the exported events, or null if the export begins with the first event. */
  from: checkpointSchema.nullable(),
  /** True if the log continued after the last exported event. */
  is_part: z.boolean(),
});

export type ExportHeader = z.output<typeof exportHeader>;

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** A line with an access log batch. The batches follow the events in the file and are grouped by chain. */
const accessLine = z.object({
  access: z.object({ chain: z.string(), sequence: z.int().min(1), previous: hash, hash, lines: z.array(z.string()) }),
});

/** The last line of an export. If this line is missing, the file was truncated. */
export const exportEnd = z.object({ strongroom_export_end: z.object({ lines: z.int().min(0) }) });

export type OpenedExport = {
  readonly header: ExportHeader;
  readonly lines: AsyncGenerator<ExportLine>;
  /** The access log batches. They follow the events in the file, so read `lines` to the end first. */
  readonly access: AsyncGenerator<ChainBatch>;
};

/**
 * Returns an export's header, events and access log batches. Throws Failure if the file is damaged. If the damage is
 * after the header, the error is thrown while the caller reads the events or batches.
 */
export async function openExport(path: string): Promise<OpenedExport> {
  const texts = readLines(path);
  const first = await texts.next();
  const header = first.done === true ? null : exportHeader.safeParse(jsonOrNull(first.value));
  if (header?.success !== true)
    throw new Failure(
      `${path} is not a log export of this version of Strongroom. Export the log again, or use the version that ` +
        'wrote it.',
    );
  const next = contentOf(path, texts);
  let batch: ChainBatch | null = null;

  async function* lines(): AsyncGenerator<ExportLine> {
    for (let line = await next(); line !== null; line = await next()) {
      if ('access' in line) {
        batch = line.access;
        return;
      }
      yield line;
    }
  }

  async function* access(): AsyncGenerator<ChainBatch> {
    while (batch !== null) {
      yield batch;
      const line = await next();
      if (line !== null && !('access' in line))
        throw new Failure(`${path} is damaged: events come after the access log.`, 3);
      batch = line?.access ?? null;
    }
  }

  return { header: header.data, lines: lines(), access: access() };
}

type Content = ExportLine | z.output<typeof accessLine>;

/**
 * Returns a function that reads the lines between the header and the end line. Each call returns the next line, or null
 * after the last line.
 */
function contentOf(path: string, texts: AsyncGenerator<string>): () => Promise<Content | null> {
  let read = 0;
  return async () => {
    const { done, value } = await texts.next();
    if (done === true) throw new Failure(`${path} is damaged: its end is missing. Export the log again.`, 3);
    const json = jsonOrNull(value);
    const end = exportEnd.safeParse(json);
    if (end.success) {
      if (end.data.strongroom_export_end.lines === read) return null;
      throw new Failure(`${path} is damaged: lines are missing, or there are too many. Export the log again.`, 3);
    }
    read += 1;
    const line = exportLine.safeParse(json);
    if (line.success) return line.data;
    const access = accessLine.safeParse(json);
    if (access.success) return access.data;
    throw new Failure(`${path} is damaged in line ${read + 1}.`, 3);
  };
}
