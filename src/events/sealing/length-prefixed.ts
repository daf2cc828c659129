const ascii = /^[\0-\x7f]*$/;

/**
 * Returns the parts, each preceded by its length (4 bytes, big endian), so that no two lists of parts have the same
 * bytes.
 */
export function lengthPrefixed(parts: readonly string[]): Buffer {
  let text = '';
  for (const part of parts) text += lengthOf(part) + part;
  // Names and ids are ASCII: a character is a byte, so one copy is enough.
  return ascii.test(text) ? Buffer.from(text, 'latin1') : Buffer.concat(parts.flatMap(encoded));
}

function lengthOf({ length }: string): string {
  return String.fromCharCode(length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff);
}

function encoded(part: string): readonly [length: Buffer, bytes: Buffer] {
  const bytes = Buffer.from(part);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return [length, bytes];
}
