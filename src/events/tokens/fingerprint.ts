import type { TokenType } from '../../domain/token/types/token-type.js';
import { keyedHash } from '../sealing/keyed-hash.js';

/**
 * Returns the fingerprint that callers see: base58 of a keyed hash of type and value, 43-44 characters
 * (docs/contract.md, "Fingerprints").
 */
export function fingerprintOf(fingerprintsKey: Buffer, type: TokenType, value: string): string {
  return base58(keyedHash(fingerprintsKey, 'fingerprint', type, value));
}

/**
 * Returns the search term of a fingerprint. It is a hash, so that the store does not contain the fingerprints that
 * callers see.
 */
export function fingerprintHash(claimsKey: Buffer, fingerprint: string): string {
  return keyedHash(claimsKey, 'fingerprint', fingerprint).toString('hex');
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Encodes bytes in base58 with the Bitcoin alphabet. A leading zero byte becomes a leading `1`. */
function base58(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);
  let digits = '';
  for (; rest > 0n; rest /= 58n) digits = alphabet.charAt(Number(rest % 58n)) + digits;
  const leadingZeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(leadingZeros === -1 ? bytes.length : leadingZeros) + digits;
}
