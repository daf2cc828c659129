/**
 * A line without its line ending and without surrounding whitespace. `bytes` is null if the line was too long. `number`
 * starts at 1.
 */
export type Line = { readonly number: number; readonly bytes: Buffer | null };

const newline = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Yields the lines of a byte stream. Lines end with LF or CRLF. Skips blank lines, but counts them. Skips a byte order
 * mark before the first line. Discards the content of a line that is longer than `bytesMax`.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Line> {
  let number = 0;
  let parts: Buffer[] = [];
  let size = 0;

  function keep(part: Buffer): void {
    size += part.length;
    // This limit leaves room for the line ending and the byte order mark.
    if (size <= bytesMax + byteOrderMark.length + 1) parts.push(part);
    else parts = [];
  }

  function end(): Line | null {
    number += 1;
    const isKept = size <= bytesMax + byteOrderMark.length + 1;
    const whole = isKept ? Buffer.concat(parts) : null;
    parts = [];
    size = 0;
    if (whole === null) return { number, bytes: null };
    const isMarked = number === 1 && whole.subarray(0, byteOrderMark.length).equals(byteOrderMark);
    const bytes = trimmed(isMarked ? whole.subarray(byteOrderMark.length) : whole);
    if (bytes.length === 0) return null;
    return { number, bytes: bytes.length > bytesMax ? null : bytes };
  }

  for await (const chunk of chunks) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = rest.indexOf(newline); at >= 0; at = rest.indexOf(newline)) {
      keep(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      const line = end();
      if (line !== null) yield line;
    }
    if (rest.length > 0) keep(rest);
  }
  if (size > 0) {
    const line = end();
    if (line !== null) yield line;
  }
}

/** Removes the whitespace that JSON allows before and after a value. */
function trimmed(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && isBlank(bytes[start])) start += 1;
  while (end > start && isBlank(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}
