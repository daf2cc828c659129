import { keyedHash } from '../events/sealing/keyed-hash.js';
import type { Random } from '../ports/random.js';

/**
 * Chance for one command: with an idempotency key it follows from that key, so that a repeat draws the same ids and
 * meets the same streams; without one it is the vault's own. Numbers from it are as hard to foresee as its key.
 */
export function randomForCommand(
  random: Random,
  claimsKey: Buffer,
  cmd: string | null,
): Pick<Random, 'uuid' | 'integer'> {
  if (cmd === null) return random;
  let drawn = 0;
  const draw = (): Buffer => {
    drawn += 1;
    return keyedHash(claimsKey, 'drawn', cmd, String(drawn));
  };
  return {
    uuid: () => uuidFrom(draw()),
    integer(maxExclusive: number): number {
      // Numbers past the last whole multiple are drawn again, or small results would be likelier.
      const limit = 2 ** 48 - (2 ** 48 % maxExclusive);
      for (;;) {
        const number = draw().readUIntBE(0, 6);
        if (number < limit) return number % maxExclusive;
      }
    },
  };
}

/** The bytes as a UUID of version 4 (RFC 9562, 5.4). */
function uuidFrom(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
