import { createHash } from 'node:crypto';
import { keyedHash } from '../../events/sealing/keyed-hash.js';

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
