import { createHash } from 'node:crypto';
import { keyedHash } from '../../events/sealing/keyed-hash.js';

/** How many lines without an id one import can tell apart: some 100 MB of counters. */
export const linesWithoutIdMax = 2_000_000;

/**
 * Ids for lines without one: UUIDs that follow from a secret, the bytes of the line, and how many equal lines came
 * before it. So the same file gives the same ids, also after other lines of it were mended, moved or taken out. Null:
 * more lines than can be told apart.
 */
export function createLineIds(secret: Buffer): (bytes: Buffer) => string | null {
  const seen = new Map<number, number>();
  let lines = 0;
  return (bytes) => {
    if (lines === linesWithoutIdMax) return null;
    lines += 1;
    const digest = createHash('sha256').update(bytes).digest();
    // Should two lines ever share these six bytes, one just counts as a repeat.
    const short = digest.readUIntBE(0, 6);
    const before = seen.get(short) ?? 0;
    seen.set(short, before + 1);
    return uuidOf(secret, digest.toString('hex'), before);
  };
}

/** Of version 4 (RFC 9562, 5.4), and without six decimal digits in a row: an id may not hold the token's own value. */
function uuidOf(secret: Buffer, digest: string, before: number): string {
  for (let tries = 0; ; tries += 1) {
    const bytes = keyedHash(secret, 'imported line', digest, String(before), String(tries));
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    const hex = bytes.toString('hex', 0, 16);
    if (/\d{6}/.test(hex)) continue;
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
}
