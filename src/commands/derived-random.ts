import { keyedHash } from '../events/sealing/keyed-hash.js';
import type { Random } from '../ports/random.js';

/**
 * Returns the random source for one command. If the request has an idempotency key, the numbers are derived from that
 * key, so a retry generates the same ids and therefore uses the same streams. If the request has no idempotency key,
 * the vault's random source is used. The derived numbers cannot be predicted without the claims key.
 */
export function randomForCommand(
  random: Random,
  claimsKey: Buffer,
  cmd: string | null,
): Pick<Random, 'uuid' | 'integer'> {
  if (cmd === null) return random;
  const take = byteStream((block) => Buffer.from(keyedHash(claimsKey, 'drawn', cmd, String(block)), 'hex'));
  return {
    uuid: () => uuidFrom(take(16)),
    integer(maxExclusive: number): number {
      // Uses only one byte per number if possible, because an alias can need hundreds of numbers, and each block of
      // bytes takes one HMAC computation.
      const bytes = maxExclusive <= 256 ? 1 : 6;
      // Numbers at or above the largest multiple of `maxExclusive` are skipped. If they were used, small results would
      // be more likely than others.
      const limit = 256 ** bytes - (256 ** bytes % maxExclusive);
      for (;;) {
        const number = take(bytes).readUIntBE(0, bytes);
        if (number < limit) return number % maxExclusive;
      }
    },
  };
}

/**
 * Returns a function that reads bytes from a sequence of blocks. If too few bytes are left in a block, the function
 * skips them and continues with the next block.
 */
function byteStream(blockAt: (index: number) => Buffer): (length: number) => Buffer {
  let index = 0;
  let rest: Buffer = Buffer.alloc(0);
  return (length) => {
    if (rest.length < length) {
      index += 1;
      rest = blockAt(index);
    }
    const taken = rest.subarray(0, length);
    rest = rest.subarray(length);
    return taken;
  };
}

/** Returns the bytes as a version 4 UUID (RFC 9562, 5.4). */
function uuidFrom(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
