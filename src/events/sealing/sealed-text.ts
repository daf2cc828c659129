import { createCipheriv, createDecipheriv } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a text with AES-256-GCM, and binds the ciphertext to a place: the purpose of the text and the ids of what it
 * belongs to. Returns the nonce (12 bytes), the ciphertext and the tag (16 bytes).
 */
export function sealText(
  key: Uint8Array,
  { bytes }: { bytes(count: number): Uint8Array },
  text: string,
  place: readonly unknown[],
): Buffer {
  const nonce = bytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(JSON.stringify(place)));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a text. Returns null if the key or the place is wrong, or if any bit was changed. */
export function openText(key: Uint8Array, sealed: Uint8Array, place: readonly unknown[]): string | null {
  if (sealed.length < nonceBytes + tagBytes) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(JSON.stringify(place)));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
  try {
    decipher.final();
  } catch {
    return null;
  }
  return text.toString('utf8');
}
