import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { ErasedKeys, KeysToCopy } from '../../ports/backup.js';
import { Failure } from '../failure.js';
import { unreadable } from '../file-fault.js';
import { isBackupMac } from '../maintenance/maintenance-operations.js';
import { jsonOf } from './manifest.js';

const format = 'strongroom erased keys 2';
const head = z.object({ format: z.literal(format), log_id: z.string(), made_at: z.iso.datetime() });
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
  keys: KeysToCopy,
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
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, error);
  });
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const parsed = head.safeParse(jsonOf(first));
  const ids = lines.slice(0, -1);
  const { count, mac = '' } = last.exec(lines.at(-1) ?? '')?.groups ?? {};
  if (!parsed.success || count !== String(ids.length)) {
    throw new Failure(
      `${file} is not a complete list of erased keys, or has another version. Use another copy of the newest list.`,
    );
  }
  const digest = createHash('sha256');
  for (const line of [first, ...ids]) digest.update(`${line}\n`);
  const digestHex = digest.digest('hex');
  return {
    ids: new Set(ids),
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
