import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ApplicationType } from '../access/application-type.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 random characters from a 62-character alphabet contain 256 bits of randomness. */
const secretLength = 43;
const checksumLength = 6;
const shape = /^sr_(?:private|public|management)_[0-9A-Za-z]{49}$/;

/** Returns a new API key: `sr_<type>_<43 base62 characters><6-character checksum>` (docs/contract.md, "API keys"). */
export function newApiKey(type: ApplicationType, randomInteger: (maxExclusive: number) => number): string {
  const secret = Array.from({ length: secretLength }, () => alphabet.charAt(randomInteger(alphabet.length))).join('');
  const body = `sr_${type}_${secret}`;
  return body + checksum(body);
}

/** Returns whether a key has the right form and checksum, so that a mistyped key is rejected without a lookup. */
export function isWellFormedApiKey(key: string): boolean {
  return shape.test(key) && checksum(key.slice(0, -checksumLength)) === key.slice(-checksumLength);
}

/** Returns the SHA-256 hash of a key in hex. The vault stores and looks up keys by this hash. */
export function apiKeyHash(key: string): string {
  return hash('sha256', key, 'hex');
}

/**
 * Returns the CRC-32 of a text in base62. The checksum detects typing errors. It does not protect against attackers.
 */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < checksumLength; place += 1) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
