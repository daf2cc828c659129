import { keyedHash } from '../events/sealing/keyed-hash.js';
import type { Random } from '../ports/random.js';

/**
 * The random source of one command. With an idempotency key it is derived from that key, so that a repeat generates the
 * same ids and reaches the same streams; without one, it is the vault's own. Its numbers are as hard to predict as its
 * key.
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
      // One byte where that is enough: an alias needs hundreds of characters, and every block costs an HMAC.
      const bytes = maxExclusive <= 256 ? 1 : 6;
      // Numbers past the last whole multiple are rejected, otherwise small results would be more likely.
      const limit = 256 ** bytes - (256 ** bytes % maxExclusive);
      for (;;) {
        const number = take(bytes).readUIntBE(0, bytes);
        if (number < limit) return number % maxExclusive;
      }
    },
  };
}

/** Returns the bytes of the blocks one after another. If the rest of a block is too short, it is skipped. */
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

/** Returns the bytes as a UUID of version 4 (RFC 9562, 5.4). */
function uuidFrom(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
