import { counted, grouped } from '../../domain/text.js';
import { Failure } from '../failure.js';
import type { ImportInput } from '../files/open-import.js';
import { showProgress } from '../files/progress.js';
import { type Line, readLines } from '../files/read-lines.js';
import { untilSignal } from '../files/until-signal.js';
import type { RunOperation } from '../run-command.js';
import { type LineIds, lineBytesMax, wholeLine } from './import-item.js';
import { type ImportCounts, importLines } from './import-lines.js';
import { createLineIds, resumeSecret } from './line-ids.js';

export type ImportRun = {
  readonly key: string;
  readonly strict: boolean;
  readonly json: boolean;
  /** The path of the resume file. If null, every line must contain an id. */
  readonly resumeFile: string | null;
};

/** Imports all lines, shows progress and prints a summary. Throws Failure if at least one line was not imported. */
export async function runImport(
  run: RunOperation,
  input: ImportInput,
  { key, strict, json, resumeFile }: ImportRun,
): Promise<void> {
  const counts: ImportCounts = { created: 0, skipped: 0, deduplicated: 0, failed: 0 };
  const progress = () => ({
    items: lineCount(counts),
    done: input.readBytes(),
    total: input.totalBytes,
    phase: input.readBytes() === input.totalBytes ? 'storing the last lines' : null,
    fields: {
      ...counts,
      read_bytes: input.readBytes(),
      ...(input.totalBytes === null ? {} : { total_bytes: input.totalBytes }),
    },
  });
  const display = showProgress(progress, { json, noun: 'line' });
  const interrupt = untilSignal(() => input.stop());
  let stopped: string | null;
  try {
    stopped = await importLines(paced(readLines(input.chunks, lineBytesMax)), {
      run,
      key,
      strict,
      counts,
      idOf: resumeFile === null ? null : idsFrom(resumeFile),
      isInterrupted: interrupt.came,
      onFailed(line, errors) {
        if (json) process.stdout.write(`${JSON.stringify({ type: 'failed', line, errors })}\n`);
        else
          for (const [path, messages] of Object.entries(errors))
            display.line(`line ${line}: ${path === wholeLine ? '' : `${path}: `}${messages.join('; ')}`);
      },
    });
  } finally {
    interrupt.end();
    display.end();
    input.stop();
  }
  const why = stopped ?? (interrupt.came() ? 'interrupted.' : null);
  const complete = why === null;
  process.stdout.write(json ? `${JSON.stringify({ type: 'summary', complete, ...counts })}\n` : `${summary(counts)}\n`);
  const again = 'run the same command again: it skips the tokens that exist.';
  if (why !== null) {
    throw new Failure(`${why} ${counts.failed > 0 ? 'Correct the file and' : 'To continue,'} ${again}`);
  }
  if (counts.failed > 0) {
    const lines = `${counted(counts.failed, 'line')} ${counts.failed === 1 ? 'was' : 'were'}`;
    throw new Failure(`${lines} not imported. Correct the file and ${again}`);
  }
}

/**
 * Yields the lines. Before each line, waits until the messages about earlier lines are written. Otherwise, if the output
 * is a pipe, the messages about a large file of invalid lines would fill the memory.
 */
async function* paced(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
  for await (const line of lines) {
    for (const stream of [process.stdout, process.stderr]) if (stream.writableNeedDrain) await flushed(stream);
    yield line;
  }
}

/** Resolves when everything was written to the stream, or could not be written. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

/**
 * Returns a function that returns ids for lines without an id. Its first call reads the secret from the resume file, or
 * creates the file.
 */
function idsFrom(resumeFile: string): LineIds {
  let ids: Promise<(bytes: Buffer) => string | null> | null = null;
  return async (bytes) => {
    ids ??= resumeSecret(resumeFile).then(createLineIds);
    return (await ids)(bytes);
  };
}

function lineCount({ created, skipped, deduplicated, failed }: ImportCounts): number {
  return created + skipped + deduplicated + failed;
}

function summary({ created, skipped, deduplicated, failed }: ImportCounts): string {
  const numbers = [created, skipped, deduplicated, failed].map(grouped);
  return `created ${numbers[0]}, skipped ${numbers[1]}, deduplicated ${numbers[2]}, failed ${numbers[3]}`;
}
