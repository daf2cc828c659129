export const rootKeySizeBytes = 32;
/**
 * The number of bytes to read: 64 characters, up to two bytes for a line ending, and one more byte to detect a text
 * that is too long.
 */
export const keyTextBytesMax = 2 * rootKeySizeBytes + 3;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Decodes 64 hexadecimal characters, with an optional line ending, into the 32 bytes of a key. Returns null for any
 * other input. The input is a buffer, because a string that contains the key could not be zeroed. The returned buffer
 * shares its memory with no other buffer.
 */
export function decodeKeyText(text: Buffer): Buffer | null {
  let end = text.length;
  if (text[end - 1] === lineFeed) end -= 1;
  if (end < text.length && text[end - 1] === carriageReturn) end -= 1;
  if (end !== rootKeySizeBytes * 2) return null;
  // Allocates the key outside the V8 heap, because V8 leaves copies of a buffer behind when it moves the buffer within
  // the heap.
  const key = Buffer.from(new ArrayBuffer(rootKeySizeBytes));
  for (let i = 0; i < rootKeySizeBytes; i += 1) {
    const high = digitValue(text[i * 2]);
    const low = digitValue(text[i * 2 + 1]);
    if (high === -1 || low === -1) {
      key.fill(0);
      return null;
    }
    key[i] = high * 16 + low;
  }
  return key;
}

/** Encodes the key as 64 hexadecimal characters and a line ending. The caller must zero the buffer. */
export function encodeKeyText(key: Buffer): Buffer {
  const digits = '0123456789abcdef';
  const text = Buffer.allocUnsafeSlow(key.length * 2 + 1);
  for (const [i, byte] of key.entries()) {
    text[i * 2] = digits.charCodeAt(byte >> 4);
    text[i * 2 + 1] = digits.charCodeAt(byte & 15);
  }
  text[key.length * 2] = lineFeed;
  return text;
}

function digitValue(unit = 0): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const lowerCase = unit | 0x20;
  return lowerCase >= 0x61 && lowerCase <= 0x66 ? lowerCase - 0x61 + 10 : -1;
}
