import { base58 } from '../../domain/token/base58.js';
import type { TokenType } from '../../domain/token/token-type.js';
import { keyedHash } from '../sealing/keyed-hash.js';

/** What callers see and store: base58 of a keyed hash over type and value, 43-44 characters (contract, section 3). */
export function fingerprintOf(fingerprintsKey: Buffer, type: TokenType, value: string): string {
  return base58(keyedHash(fingerprintsKey, 'fingerprint', type, value));
}

/** What a row is found by: a hash of the fingerprint, so that the store does not hold what callers hold. */
export function fingerprintHash(claimsKey: Buffer, fingerprint: string): string {
  return keyedHash(claimsKey, 'fingerprint', fingerprint).toString('hex');
}
