import type { FieldErrors } from '../../domain/field-errors.js';
import { Failure } from '../failure.js';
import type { Line } from '../files/read-lines.js';
import type { RunOperation } from '../run-command.js';
import { type ImportItem, type LineIds, readItem } from './import-item.js';
import { type ImportOutcome, importBatchMax } from './import-operation.js';

/**
 * The maximum number of batches in progress. With this many batches, enough changes are in progress for several of them
 * to share a commit.
 */
const batchesMax = 4;
const batchLinesMax = importBatchMax / batchesMax;
const batchBytesMax = 1024 * 1024;

export type ImportCounts = { created: number; skipped: number; deduplicated: number; failed: number };

export type ImportOptions = {
  readonly run: RunOperation;
  readonly key: string;
  /** If true, stops the import at the first line that fails. */
  readonly strict: boolean;
  readonly idOf: LineIds | null;
  /**
   * Returns true if the import should stop. The import then reads no more lines, but still finishes the lines in
   * progress.
   */
  readonly isInterrupted: () => boolean;
  readonly onFailed: (line: number, errors: FieldErrors) => void;
  /** The number of lines per outcome. The import updates these numbers as it runs. */
  readonly counts: ImportCounts;
};

type Batch = { readonly lines: number[]; readonly items: ImportItem[]; sizeBytes: number };

/**
 * Imports lines as they arrive and runs a few batches at the same time. If `strict` is true, runs one batch at a time
 * and stops at the first line that fails. If `strict` is false, reports lines that fail and continues. Returns the
 * reason why the import stopped early, or null if it did not.
 */
export async function importLines(lines: AsyncIterable<Line>, options: ImportOptions): Promise<string | null> {
  const { strict, counts } = options;
  const underWay = new Set<Promise<void>>();
  let stopped: string | null = null;
  /** An error that the import threw for a reason other than an invalid line. */
  let broken: unknown;
  let batch = newBatch();
  let hasSent = false;

  const failed = (line: number, errors: FieldErrors): void => {
    counts.failed += 1;
    options.onFailed(line, errors);
    if (strict) stopped ??= `stopped at line ${line} because of --strict.`;
  };
  const settle = (line: number, outcome: ImportOutcome): void => {
    if (outcome.kind === 'failed') failed(line, outcome.errors);
    else if (outcome.kind === 'stopped') stopped ??= outcome.message;
    else counts[outcome.kind] += 1;
  };

  /** Sends the batch, and resolves when the next batch can be sent. */
  async function send(): Promise<void> {
    const { lines: numbers, items } = batch;
    batch = newBatch();
    if (items.length === 0) return;
    const isFirst = !hasSent;
    hasSent = true;
    const sent = importBatch(options, items)
      .then((outcomes) => outcomes.forEach((outcome, i) => void settle(numbers[i] ?? 0, outcome)))
      .catch((error: unknown) => {
        if (error instanceof Failure) stopped ??= error.message;
        else broken ??= error;
      })
      .finally(() => underWay.delete(sent));
    underWay.add(sent);
    // The first batch runs alone. If the application may not import at all, the access log then gets one entry, and not
    // one for each batch in progress.
    if (strict || isFirst) await sent;
    else if (underWay.size >= batchesMax) await Promise.race(underWay);
  }

  const isOver = (): boolean => broken !== undefined || stopped !== null || options.isInterrupted();
  try {
    for await (const line of lines) {
      if (isOver()) break;
      const read = await readItem(line, options.idOf);
      if (!read.ok) {
        // In strict mode, the lines before the invalid line must be imported before the import stops. If any of those
        // lines fails, that line stops the import instead.
        if (strict) await send();
        if (stopped === null) failed(line.number, read.errors);
        continue;
      }
      if (batch.sizeBytes + read.sizeBytes > batchBytesMax) await send();
      if (isOver()) break;
      batch.lines.push(line.number);
      batch.items.push(read.item);
      batch.sizeBytes += read.sizeBytes;
      if (batch.items.length === batchLinesMax) await send();
    }
  } catch (error) {
    // Reading the input failed. The lines before the failure are still imported.
    if (!(error instanceof Failure)) throw error;
    stopped ??= error.message;
    if (!options.isInterrupted()) await send();
  }
  if (!isOver()) await send();
  await Promise.all(underWay);
  if (broken !== undefined) throw broken;
  return stopped;
}

function newBatch(): Batch {
  return { lines: [], items: [], sizeBytes: 0 };
}

async function importBatch({ run, key, strict }: ImportOptions, items: readonly ImportItem[]) {
  return (await run('tokens-import', { key, strict, items })).outcomes;
}
