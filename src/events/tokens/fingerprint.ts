import type { TokenType } from '../../domain/token/types/token-type.js';
import { keyedHash } from '../sealing/keyed-hash.js';

/**
 * Returns the fingerprint that callers see: a keyed hash of the token type and the value, in base58. It is 43 or 44
 * characters long (docs/contract.md, "Fingerprints").
 */
export function fingerprintOf(fingerprintsKey: Buffer, type: TokenType, value: string): string {
  return base58(Buffer.from(keyedHash(fingerprintsKey, 'fingerprint', type, value), 'hex'));
}

/**
 * Returns the keyed hash that the store uses to find a fingerprint. The store therefore does not need to contain the
 * fingerprints that callers see.
 */
export function fingerprintHash(claimsKey: Buffer, fingerprint: string): string {
  return keyedHash(claimsKey, 'fingerprint', fingerprint);
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** All pairs of digits, in the order of their values. */
const pairs = [...alphabet].flatMap((high) => [...alphabet].map((low) => high + low));
/** One division computes two pairs of digits. With these, all values stay within the range of exact integers. */
const divisor = pairs.length ** 2;

/**
 * Encodes an even number of bytes in base58 with the Bitcoin alphabet. Each leading zero byte becomes a leading `1`.
 * Long division, 16 bits at a time, is three times as fast as BigInt.
 */
function base58(bytes: Buffer): string {
  const dividend = new Uint16Array(bytes.length / 2);
  for (let at = 0; at < dividend.length; at += 1) dividend[at] = bytes.readUInt16BE(2 * at);
  let digits = '';
  let first = 0;
  while (first < dividend.length) {
    let rest = 0;
    for (let at = first; at < dividend.length; at += 1) {
      const value = rest * 65_536 + (dividend[at] ?? 0);
      const whole = Math.floor(value / divisor);
      dividend[at] = whole;
      rest = value - whole * divisor;
    }
    const high = Math.floor(rest / pairs.length);
    digits = `${pairs[high]}${pairs[rest - high * pairs.length]}${digits}`;
    while (dividend[first] === 0) first += 1;
  }
  const leadingZeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(leadingZeros === -1 ? bytes.length : leadingZeros) + digits.replace(/^1+/, '');
}
