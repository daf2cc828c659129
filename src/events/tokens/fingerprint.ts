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

/**
 * The number of digits that one division computes. With four digits, all values stay within the range of exact
 * integers.
 */
const digitsAtOnce = 4;
const divisor = alphabet.length ** digitsAtOnce;

/**
 * Encodes an even number of bytes in base58 with the Bitcoin alphabet. Each leading zero byte becomes a leading `1`.
 * Long division, 16 bits at a time, is ten times as fast as BigInt.
 */
function base58(bytes: Buffer): string {
  let dividend: number[] = [];
  for (let at = 0; at < bytes.length; at += 2) dividend.push(bytes.readUInt16BE(at));
  let digits = '';
  while (dividend.length > 0) {
    const quotient: number[] = [];
    let rest = 0;
    for (const part of dividend) {
      const value = rest * 65_536 + part;
      const whole = Math.floor(value / divisor);
      rest = value - whole * divisor;
      if (quotient.length > 0 || whole > 0) quotient.push(whole);
    }
    for (let digit = 0; digit < digitsAtOnce; digit += 1) {
      digits = alphabet.charAt(rest % alphabet.length) + digits;
      rest = Math.floor(rest / alphabet.length);
    }
    dividend = quotient;
  }
  const leadingZeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(leadingZeros === -1 ? bytes.length : leadingZeros) + digits.replace(/^1+/, '');
}
