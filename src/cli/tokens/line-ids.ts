import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { keyedHash } from '../../events/sealing/keyed-hash.js';
import { Failure } from '../failure.js';
import { unreadable } from '../file-fault.js';
import { openOutFile } from '../files/out-file.js';

/**
 * The maximum number of lines without an id per import. The import counts identical lines, which takes about 100 MB of
 * memory for this many lines.
 */
export const linesWithoutIdMax = 2_000_000;

/**
 * Creates a function that returns ids for lines that contain none. An id is a UUID that is derived from a secret, the
 * line's bytes, and the number of identical lines before it. A line therefore gets the same id in every run, even if
 * other lines in the file were corrected, moved or removed. The function returns null once the file has more than
 * `linesWithoutIdMax` such lines.
 */
export function createLineIds(secret: Buffer): (bytes: Buffer) => string | null {
  const seen = new Map<number, number>();
  let lines = 0;
  return (bytes) => {
    if (lines === linesWithoutIdMax) return null;
    lines += 1;
    const digest = createHash('sha256').update(bytes).digest();
    // The hashes of two different lines can begin with the same six bytes. In that case, the second line merely counts
    // as a repeated line.
    const short = digest.readUIntBE(0, 6);
    const before = seen.get(short) ?? 0;
    seen.set(short, before + 1);
    return uuidOf(secret, digest.toString('hex'), before);
  };
}

/**
 * Returns a version 4 UUID (RFC 9562, section 5.4) that never has six decimal digits in a row. An id must not contain
 * the token's value, and such a run of digits could match it.
 */
function uuidOf(secret: Buffer, digest: string, before: number): string {
  for (let tries = 0; ; tries += 1) {
    const bytes = Buffer.from(keyedHash(secret, 'imported line', digest, String(before), String(tries)), 'hex');
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    const hex = bytes.toString('hex', 0, 16);
    if (/\d{6}/.test(hex)) continue;
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
}

const secretBytes = 32;
const firstLine = 'strongroom import 1';

/**
 * Returns the secret that an import uses to derive ids for lines that contain none. The secret is stored in a separate
 * file, so every run that uses this file derives the same ids (ADR 19). If the file does not exist, creates it and
 * flushes it to disk.
 *
 * Threat: an attacker reads the keyed hashes of ids. These hashes remain after erasure. If an id could be computed from
 * the data and the vault's stores alone, the attacker could use its hash to confirm a guess about erased data.
 */
export async function resumeSecret(path: string): Promise<Buffer> {
  const found = await readSecret(path);
  if (found !== null) return found;
  const secret = randomBytes(secretBytes);
  const file = await openOutFile(path);
  await file.write(Buffer.from(`${firstLine}\n${secret.toString('hex')}\n`));
  if (await file.commit()) return secret;
  // Either a concurrent import has just created the file, or the path is a symbolic link to a missing file.
  const other = await readSecret(path);
  if (other !== null) return other;
  throw new Failure(
    `${path} is a symbolic link to a missing file. Remove it, or choose another file with --resume-file.`,
  );
}

async function readSecret(path: string): Promise<Buffer | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw unreadable(path, error);
  });
  if (text === null) return null;
  const [first, hex = ''] = text.split('\n');
  if (first === firstLine && /^[0-9a-f]{64}$/.test(hex)) return Buffer.from(hex, 'hex');
  throw new Failure(`${path} is not the resume file of an import. Choose another with --resume-file.`);
}
