import { inflateRawSync } from 'node:zlib';

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const stored = 0;

/**
 * Returns the files in a ZIP archive by name. Supports only the features that our own archives use, which do not
 * include ZIP64 and encryption.
 */
export function unzip(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0 || bytes.readUInt32LE(end) !== endSignature) throw new Error('this is no ZIP archive');
  const files = new Map<string, Buffer>();
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (bytes.readUInt32LE(at) !== entrySignature) throw new Error('the directory of the archive is damaged');
    const [method, packedBytes] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    const local = bytes.readUInt32LE(at + 42);
    const name = bytes.toString('utf8', at + 46, at + 46 + Number(nameBytes));
    const data = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const packed = bytes.subarray(data, data + packedBytes);
    files.set(name, method === stored ? packed : inflateRawSync(packed));
    at += 46 + Number(nameBytes) + Number(extraBytes) + Number(commentBytes);
  }
  return files;
}
