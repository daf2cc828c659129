import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { z } from 'zod';
import type { ErasedKeys, KeysToCopy } from '../../ports/backup.js';
import { Failure } from '../failure.js';
import { unreadable } from '../file-fault.js';
import { jsonOrNull } from '../files/json-or-null.js';
import { isBackupMac } from '../maintenance/maintenance-operations.js';

const format = 'strongroom erased keys 2';
const head = z.object({ format: z.literal(format), log_id: z.string(), made_at: z.iso.datetime() });
const lineLengthMax = 1_000;
const last = /^end (?<count>\d+) (?<mac>[0-9a-f]{64})$/;

export type ErasedList = ErasedKeys & {
  readonly logId: string;
  /** Throws Failure if the list was not written by a vault with this key. */
  expectAuthentic(key: Uint8Array): void;
};

/**
 * Yields the list as lines of text: a header, one line per id, and a last line with the number of ids and a MAC over
 * all preceding lines. `macOf` computes the MAC from the digest of those lines.
 */
export async function* erasedLines(
  keys: Pick<KeysToCopy, 'erased' | 'logId'>,
  macOf: (digest: string) => Promise<string>,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const hashed = (line: string): string => {
    hash.update(line);
    return line;
  };
  const madeAt = new Date().toISOString();
  yield hashed(`${JSON.stringify({ format, log_id: await keys.logId(), made_at: madeAt })}\n`);
  let count = 0;
  for await (const id of keys.erased()) {
    count += 1;
    yield hashed(`${id}\n`);
  }
  yield `end ${count} ${await macOf(hash.digest('hex'))}\n`;
}

/** Reads a list of erased keys from a file. Throws Failure if the list is incomplete. */
export async function readErasedList(file: string): Promise<ErasedList> {
  const incomplete = new Failure(
    `${file} is not a complete list of erased keys, or has another version. Use another copy of the newest list.`,
  );
  const digest = createHash('sha256');
  const ids = manyIds();
  let first: string | null = null;
  let end = '';
  for await (const lines of linesOf(file, incomplete)) {
    const before = end === '' ? lines : [end, ...lines];
    end = before.pop() ?? '';
    if (before.length === 0) continue;
    digest.update(`${before.join('\n')}\n`);
    if (first === null) first = before.shift() ?? '';
    for (const id of before) ids.add(id);
  }
  const parsed = head.safeParse(jsonOrNull(first ?? ''));
  const { count, mac = '' } = last.exec(end)?.groups ?? {};
  if (!parsed.success || count !== String(ids.added())) throw incomplete;
  const digestHex = digest.digest('hex');
  return {
    ids,
    madeAt: Date.parse(parsed.data.made_at),
    logId: parsed.data.log_id,
    expectAuthentic(key) {
      if (isBackupMac(mac, key, 'erased-keys', digestHex)) return;
      throw new Failure(
        `${file} was changed after it was written. Nothing was changed. Use another copy of the newest list.`,
      );
    },
  };
}

/**
 * Yields the lines of a file that are not empty, many at a time. A list of millions of ids is longer than a string can
 * be. Throws `tooLong` if a line is longer than any line of a list.
 */
async function* linesOf(file: string, tooLong: Failure): AsyncGenerator<string[]> {
  const chunks: AsyncIterable<string> = createReadStream(file, 'utf8');
  let rest = '';
  try {
    for await (const chunk of chunks) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > lineLengthMax) throw tooLong;
      yield lines.map((line) => line.trimEnd()).filter((line) => line !== '');
    }
  } catch (error) {
    throw error === tooLong ? tooLong : unreadable(file, error);
  }
  if (rest.trimEnd() !== '') yield [rest.trimEnd()];
}

/** Returns a set of ids that can have more elements than a `Set`, which is limited to 16,777,216. */
function manyIds() {
  const parts = new Map<string, Set<string>>();
  let added = 0;
  return {
    add(id: string): void {
      added += 1;
      const name = id.slice(0, 2);
      const part = parts.get(name);
      if (part === undefined) parts.set(name, new Set([id]));
      else part.add(id);
    },
    added: () => added,
    has: (id: string) => parts.get(id.slice(0, 2))?.has(id) === true,
  };
}
