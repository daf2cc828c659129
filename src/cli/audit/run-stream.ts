import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { fsyncPath } from '../../compose/files/fsync-path.js';
import { certificateFaultOf } from '../client.js';
import { Failure } from '../failure.js';
import { unreadable, unwritable } from '../file-fault.js';
import { jsonOrNull } from '../files/json-or-null.js';
import type { Answers } from '../operations.js';
import type { RunOperation } from '../run-command.js';

/**
 * Receives lines of JSON. Resolves when the lines are durably stored. Rejects if the lines might not have been stored.
 */
export type Receiver = (lines: readonly string[]) => Promise<void>;

const linesMax = 500;
const pollMs = 1_000;
const restMaxMs = 60_000;
const dayMs = 24 * 3_600_000;

const checkpointSchema = z.strictObject({
  strongroom_stream: z.literal(1),
  log_id: z.string(),
  /** For each chain, the sequence number of the last batch accepted by the receiver. */
  chains: z.record(z.string(), z.int().min(1)),
});

type StreamCheckpoint = z.output<typeof checkpointSchema>;

export type StreamOptions = {
  readonly run: RunOperation;
  readonly receive: Receiver;
  readonly checkpointFile: string;
  /**
   * If true, the function returns once the receiver has accepted all existing records, and throws the first failure
   * instead of retrying.
   */
  readonly once: boolean;
  readonly signal: AbortSignal;
  readonly sleep: (ms: number) => Promise<void>;
  readonly notice: (text: string) => void;
};

/**
 * Sends the access log to a receiver, batch by batch, starting at the checkpoint. Updates the checkpoint only after the
 * receiver has accepted the records, so each record arrives at least once. If the process is killed, the next run may
 * send the last batches again. After a failure, retries with increasing delays. Throws Failure if the checkpoint or the
 * receiver's file cannot be used.
 */
export async function streamRecords(options: StreamOptions): Promise<{ readonly records: number }> {
  const { run, receive, checkpointFile, once, signal, sleep, notice } = options;
  let checkpoint = await readCheckpoint(checkpointFile);
  let [records, since, restMs] = [0, 0, 0];
  let isRecorded = false;

  function noteSuccess(): void {
    if (restMs > 0) notice('sending again');
    restMs = 0;
  }

  async function round(): Promise<void> {
    let found: Answers['audit-chains'] = await run('audit-chains', { since, tenant: null, begins: false });
    if (checkpoint !== null && checkpoint.log_id !== found.log_id) {
      throw new UnusableFile(`${checkpointFile} belongs to another vault. Use the checkpoint of this one.`);
    }
    // If rounds that find nothing were recorded too, every round would find the record of the previous round.
    if (!isRecorded && found.chains.some(({ chain, sequence }) => sequence > (checkpoint?.chains[chain] ?? 0))) {
      found = await run('audit-chains', { since, tenant: null, begins: true });
      // Only now, so that a request that failed is repeated before anything is sent.
      isRecorded = true;
      if (found.unrecorded !== null) notice(found.unrecorded);
    }
    for (const { chain, sequence } of found.chains) {
      for (let after = checkpoint?.chains[chain] ?? 0; after < sequence && !signal.aborted; ) {
        const filter = { tenant: null, from: null, to: null };
        const page: Answers['audit-records'] = await run('audit-records', { chain, after, filter });
        if (page.first === null || page.last === null) break;
        if (after > 0 && page.first > after + 1) {
          notice(`batches ${after + 1} to ${page.first - 1} of ${chain} were not sent: the vault no longer keeps them`);
        }
        const lines = page.records.map((record) => `${JSON.stringify(record)}\n`);
        for (let at = 0; at < lines.length; at += linesMax) await receive(lines.slice(at, at + linesMax));
        after = page.last;
        const chains: StreamCheckpoint['chains'] = { ...checkpoint?.chains, [chain]: after };
        checkpoint = { strongroom_stream: 1, log_id: found.log_id, chains };
        await writeCheckpoint(checkpointFile, checkpoint);
        records += lines.length;
        noteSuccess();
      }
    }
    // The next round looks back one day, because an entry is stored slightly later than its timestamp says, and because
    // the clocks of the processes may differ.
    if (!signal.aborted) since = Math.max(0, found.now - dayMs);
  }

  while (!signal.aborted) {
    try {
      await round();
      noteSuccess();
      if (once) break;
      await sleep(pollMs);
    } catch (error) {
      if (signal.aborted) break;
      if (once || error instanceof UnusableFile) throw error;
      restMs = Math.min(restMaxMs, Math.max(pollMs, restMs * 2));
      notice(`${error instanceof Error ? error.message : 'unknown failure'} Trying again in ${restMs / 1_000} s.`);
      await sleep(restMs);
    }
  }
  return { records };
}

/** Thrown if a file contains something else than expected. To retry would not help. */
class UnusableFile extends Failure {}

async function readCheckpoint(path: string): Promise<StreamCheckpoint | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new UnusableFile(unreadable(path, error).message);
  });
  if (text === null) return null;
  const parsed = checkpointSchema.safeParse(jsonOrNull(text));
  if (parsed.success) return parsed.data;
  throw new UnusableFile(
    `${path} is not a checkpoint of \`strongroom audit stream\`. Remove it to send everything from the beginning.`,
  );
}

/**
 * Replaces the checkpoint atomically and durably. After a power failure, the file contains either the complete old
 * checkpoint or the complete new checkpoint.
 */
async function writeCheckpoint(path: string, checkpoint: StreamCheckpoint): Promise<void> {
  const next = `${path}.next`;
  try {
    await rm(next, { force: true });
    const file = await open(next, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(checkpoint)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
    await fsyncPath(dirname(path));
  } catch (error) {
    throw unwritable(path, error);
  }
}

const lineStart = 0x7b;

/**
 * Returns a receiver that appends to a file. It opens the file for each call, so that another program can rotate the
 * file. Throws UnusableFile if the file does not begin with `{`: the operator may name another file by mistake, such as
 * the root key or a database, and the receiver would damage it.
 */
export function fileReceiver(path: string): Receiver {
  return async (lines) => {
    try {
      const file = await open(path, 'a+', 0o600);
      let isNew: boolean;
      try {
        isNew = (await file.stat()).size === 0;
        if (!isNew && (await file.read(Buffer.alloc(1), 0, 1, 0)).buffer[0] !== lineStart) {
          throw new UnusableFile(
            `${path} does not contain records of the access log. Choose another file with --to-file, or move it away.`,
          );
        }
        await endLine(file);
        await file.appendFile(lines.join(''));
        await file.sync();
      } finally {
        await file.close();
      }
      // The name of a new file must reach the disk too. For later records, this user may lack the right to read the
      // directory, and some network file systems cannot flush one.
      if (isNew) await fsyncPath(dirname(path));
    } catch (error) {
      throw error instanceof UnusableFile ? error : unwritable(path, error);
    }
  };
}

/**
 * Removes an incomplete line from the end of the file. A process that is killed while it writes can leave such a line.
 * The checkpoint does not cover the record in that line, so the record is sent again.
 */
async function endLine(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const chunk = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const last = chunk.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (last >= 0 || start === 0) {
      const whole = last >= 0 ? start + last + 1 : 0;
      if (whole < size) await file.truncate(whole);
      return;
    }
    end = start;
  }
}

const timeLimitMs = 30_000;

/**
 * Returns a receiver that posts lines to an HTTP address. The receiver does not follow redirects or read response
 * bodies, and its error messages contain only the origin and the status. The headers and the address can contain
 * secrets. Threat: an attacker who can read logged messages learns these secrets.
 */
export function httpReceiver(url: URL, headers: Headers, signal: AbortSignal): Receiver {
  return async (lines) => {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: lines.join(''),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)]),
    }).catch((error: unknown) => {
      throw new Failure(connectionFault(url.origin, error));
    });
    await response.body?.cancel().catch(() => undefined);
    if (response.ok) return;
    const what = response.status >= 300 && response.status < 400 ? ' (redirects are not followed)' : '';
    throw new Failure(`${url.origin} responded with ${response.status}${what}.`);
  };
}

function connectionFault(origin: string, error: unknown): string {
  const { name, cause } = error as Error;
  if (name === 'TimeoutError') return `${origin} did not respond within ${timeLimitMs / 1_000} s.`;
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  const fault = certificateFaultOf(origin, code);
  if (fault === null) return `${origin} cannot be reached.`;
  return `${fault} For an authority of your own, set NODE_EXTRA_CA_CERTS to the file with its certificate.`;
}
