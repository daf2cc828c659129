import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Failure } from '../failure.js';
import { unreadable } from '../file-fault.js';
import { decrypterFrom } from './age-keys.js';

/** The number of bytes that are read from the file at a time. The progress display advances in steps of this size. */
const chunkBytes = 64 * 1024;
const ageStart = 'age-encryption.org/v1';
const armorStart = '-----BEGIN AGE';

/** The plaintext of an import, and how much of the file has been read so far. */
export type ImportInput = {
  /**
   * The plaintext. Iterating throws Failure if the input cannot be read, or if encrypted input was changed or
   * truncated.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
  /**
   * Returns the number of bytes that have been read from the file. `totalBytes` is the size of a regular file, and null
   * for any other input.
   */
  readBytes(): number;
  readonly totalBytes: number | null;
  /** Stops reading, which ends the iteration of `chunks`. */
  stop(): void;
};

/**
 * Opens the file to import, or standard input if the name is `-`. If the input is encrypted, decrypts it with the
 * identity. Throws Failure if the input cannot be opened.
 */
export async function openImport(file: string, identityFile: string | undefined): Promise<ImportInput> {
  const totalBytes = file === '-' ? null : await sizeOf(file);
  const source: Readable = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: chunkBytes });
  let readBytes = 0;
  let stopped = false;

  async function* counted(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of source) {
        const bytes = chunk as Buffer;
        yield bytes;
        // The consumer requests the next chunk only after it has processed all lines of this one, so these bytes now
        // count as read.
        readBytes += bytes.length;
      }
    } catch (error) {
      if (stopped) return;
      throw unreadable(file, error);
    }
  }

  const { start, all } = await peek(counted(), ageStart.length);
  if (start.startsWith(armorStart.slice(0, ageStart.length))) {
    throw new Failure('the file is armored. Pipe it: `age -d -i IDENTITY FILE | strongroom tokens import -`.');
  }
  const isSealed = start === ageStart;
  if (isSealed && identityFile === undefined) {
    throw new Failure(
      'the file is encrypted with age. Specify the identity that decrypts it: --identity-file FILE.',
      2,
    );
  }
  if (!isSealed && identityFile !== undefined) {
    throw new Failure('the file is not encrypted with age. Leave out --identity-file.', 2);
  }
  const chunks = identityFile === undefined ? all : await unsealed(all, identityFile, () => stopped);
  return {
    chunks,
    totalBytes,
    readBytes: () => readBytes,
    stop() {
      stopped = true;
      source.destroy();
    },
  };
}

async function sizeOf(file: string): Promise<number | null> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, error);
  });
  if (found.isDirectory()) throw new Failure(`${file} is a directory.`);
  return found.isFile() ? found.size : null;
}

/** Returns the first `length` bytes as text, and a stream that still includes those bytes. */
async function peek(chunks: AsyncGenerator<Uint8Array>, length: number) {
  const first: Uint8Array[] = [];
  let size = 0;
  while (size < length) {
    const next = await chunks.next();
    if (next.done === true) break;
    first.push(next.value);
    size += next.value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* first;
    yield* chunks;
  }
  return { start: Buffer.concat(first).toString('latin1', 0, length), all: all() };
}

/**
 * Decrypts the input chunk by chunk and authenticates each chunk before returning it. Also authenticates the end of the
 * input, to detect truncation.
 */
async function unsealed(
  sealed: AsyncIterable<Uint8Array>,
  identityFile: string,
  isStopped: () => boolean,
): Promise<AsyncIterable<Uint8Array>> {
  const decrypter = await decrypterFrom(identityFile);
  const stream = Readable.toWeb(Readable.from(sealed, { objectMode: false })) as ReadableStream<Uint8Array>;
  const opened = await decrypter.decrypt(stream).catch((error: unknown) => {
    if (error instanceof Failure) throw error;
    throw new Failure(
      'the encrypted file cannot be opened: the identity is not one of its recipients, or the file is damaged.',
    );
  });
  return checked(opened, isStopped);
}

async function* checked(opened: ReadableStream<Uint8Array>, isStopped: () => boolean): AsyncGenerator<Uint8Array> {
  const reader = opened.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    if (isStopped()) return;
    if (error instanceof Failure) throw error;
    throw new Failure('the encrypted file is damaged or truncated here. Use another copy of it, or export again.');
  }
}
