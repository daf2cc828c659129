import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';
import { lengthPrefixed } from './length-prefixed.js';

const formatVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes;

/**
 * The place that a ciphertext is bound to, as the cipher's additional authenticated data. The ciphertext cannot be
 * decrypted for a different place.
 */
export type CiphertextPlace = {
  readonly tenantId: string;
  readonly stream: string;
  /** The revision of the event that contains the ciphertext. */
  readonly revision: number;
  readonly keyId: string;
  readonly field: 'content' | 'cvc' | 'trace' | 'traces' | 'data-key' | 'tenant-key' | 'generation-key' | 'root-check';
};

/**
 * Random bytes for many nonces. Each nonce is used only once. Requesting twelve random bytes for every nonce would add
 * about half the cost of the encryption itself. Threads do not share these bytes, because each thread loads its own
 * copy of this module. A ciphertext contains a copy of its nonce, so these random bytes can be overwritten later.
 */
const nonces = Buffer.allocUnsafeSlow(512 * nonceBytes);
let nextNonce = nonces.length;

function newNonce(): Buffer {
  if (nextNonce === nonces.length) {
    randomFillSync(nonces);
    nextNonce = 0;
  }
  nextNonce += nonceBytes;
  return nonces.subarray(nextNonce - nonceBytes, nextNonce);
}

/**
 * Encrypts bytes, or a string as UTF-8, with AES-256-GCM (NIST SP 800-38D) under a random 96-bit nonce. Returns the
 * format version (1 byte), nonce (12 bytes), ciphertext and tag (16 bytes) in a dedicated buffer.
 */
export function sealCiphertext(key: Uint8Array, plain: Uint8Array | string, place: CiphertextPlace): Buffer {
  const nonce = newNonce();
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(additionalData(place));
  const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain);
  cipher.final();
  // The buffer is unpooled. When a pooled buffer is sent to another thread, its whole pool is copied.
  const ciphertext = Buffer.allocUnsafeSlow(headBytes + body.length + tagBytes);
  ciphertext[0] = formatVersion;
  nonce.copy(ciphertext, 1);
  body.copy(ciphertext, headBytes);
  cipher.getAuthTag().copy(ciphertext, headBytes + body.length);
  return ciphertext;
}

/**
 * Decrypts a ciphertext. Returns null if the key or the place is wrong, or if any bit of the ciphertext was changed.
 */
export function openCiphertext(key: Uint8Array, ciphertext: Uint8Array, place: CiphertextPlace): Buffer | null {
  if (ciphertext.length < headBytes + tagBytes || ciphertext[0] !== formatVersion) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(1, headBytes), { authTagLength: tagBytes });
  decipher.setAAD(additionalData(place));
  decipher.setAuthTag(ciphertext.subarray(ciphertext.length - tagBytes));
  const plain = decipher.update(ciphertext.subarray(headBytes, ciphertext.length - tagBytes));
  try {
    decipher.final();
  } catch {
    return null;
  }
  return plain;
}

function additionalData(place: CiphertextPlace): Buffer {
  const { tenantId, stream, revision, keyId, field } = place;
  return lengthPrefixed([`strongroom.box.${formatVersion}`, tenantId, stream, String(revision), keyId, field]);
}
