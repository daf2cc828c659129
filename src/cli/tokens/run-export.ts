import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Encrypter } from 'age-encryption';
import { counted, firstOf } from '../../domain/text.js';
import { Failure } from '../failure.js';
import { writeNewFile } from '../files/out-file.js';
import { showProgress } from '../files/progress.js';
import { untilSignal } from '../files/until-signal.js';
import type { RunOperation } from '../run-command.js';
import type { ExportAnswer } from './export-operation.js';

export type ExportRun = {
  readonly key: string;
  /** The path of the output, or `-` for standard output. */
  readonly out: string;
  /** The encrypter, or null for a plaintext export. */
  readonly encrypter: Encrypter | null;
  readonly json: boolean;
};

/** `isRead` is true once all tokens have been read. */
type Counts = { exported: number; masked: number; lost: string[]; total: number | null; isRead: boolean };

/**
 * Exports all tokens, shows progress and prints a summary. If the function throws Failure, it leaves no file behind,
 * unless the only failure is that keys are lost. The file then contains all other tokens.
 */
export async function runExport(run: RunOperation, { key, out, encrypter, json }: ExportRun): Promise<void> {
  const counts: Counts = { exported: 0, masked: 0, lost: [], total: null, isRead: false };
  const interrupt = untilSignal(() => undefined);
  const progress = () => {
    const done = counts.exported + counts.masked + counts.lost.length;
    const phase = counts.isRead ? (out === '-' ? 'writing the end' : 'saving the file to disk') : null;
    return { items: done, done, total: counts.total, phase, fields: { exported: counts.exported } };
  };
  // If `out` is `-`, standard output receives the export, so no progress is printed there.
  const display = showProgress(progress, { json: json && out !== '-', noun: 'token' });
  const steps = { isOver: false, underWay: Promise.resolve() as Promise<unknown> };
  const runStep: RunOperation = (name, input) => {
    const step = run(name, input);
    steps.underWay = step.catch(() => undefined);
    return step;
  };
  try {
    const lines = linesOf(runStep, key, counts, () => steps.isOver || interrupt.came());
    const bytes = encrypter === null ? lines : await sealed(encrypter, lines);
    await (out === '-' ? writeToOutput(bytes) : writeToFile(out, bytes));
  } finally {
    // The encryption reads ahead. If the output fails, the step under way must end before the vault is closed.
    steps.isOver = true;
    await steps.underWay;
    interrupt.end();
    display.end();
  }
  const { exported, masked, lost } = counts;
  const text = json ? JSON.stringify({ type: 'summary', exported, masked, lost: lost.length }) : summary(counts, out);
  (out === '-' ? process.stderr : process.stdout).write(`${text}\n`);
  if (lost.length === 0) return;
  throw new Failure(
    `${counted(lost.length, 'token')} could not be exported, because the keys are lost: ` +
      `${firstOf(lost)}. Restore the key store from a backup, then export again.`,
    3,
  );
}

async function* linesOf(
  run: RunOperation,
  key: string,
  counts: Counts,
  isInterrupted: () => boolean,
): AsyncGenerator<Buffer> {
  let before: number | null = null;
  do {
    const answer: ExportAnswer = await run('tokens-export', { key, before });
    counts.total ??= answer.total;
    if (isInterrupted()) throw new Failure('interrupted; no file was written.');
    const lines = answer.requests.map((request) => `${JSON.stringify(request)}\n`);
    if (lines.length > 0) yield Buffer.from(lines.join(''));
    counts.exported += answer.requests.length;
    counts.masked += answer.masked;
    counts.lost.push(...answer.lost);
    before = answer.next;
  } while (before !== null);
  counts.isRead = true;
}

/** Encrypts the bytes in the age format, for the encrypter's recipients. */
export async function sealed(encrypter: Encrypter, lines: AsyncIterable<Buffer>): Promise<AsyncIterable<Uint8Array>> {
  const stream = Readable.toWeb(Readable.from(lines, { objectMode: false })) as ReadableStream<Uint8Array>;
  return chunksOf(await encrypter.encrypt(stream));
}

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function writeToFile(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  return writeNewFile(path, async (write) => {
    for await (const chunk of bytes) await write(chunk);
  });
}

async function writeToOutput(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const { stdout } = process;
  let broken = false;
  stdout.on('error', () => {
    broken = true;
  });
  for await (const chunk of bytes) {
    if (!stdout.write(chunk)) await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => undefined);
    if (broken) throw new Failure('standard output was closed before the export was complete.');
  }
}

function summary({ exported, masked }: Counts, out: string): string {
  const left =
    masked === 0 ? '' : `; left out ${counted(masked, 'token')} that the application may not see in plaintext`;
  return `exported ${counted(exported, 'token')}${out === '-' ? '' : ` to ${out}`}${left}`;
}
