import type { SealedParts } from '../../events/event.js';

const formatVersion = 1;
const absent = 0xffff_ffff;
const lengthBytes = 4;

type Sealed = { readonly trace: Uint8Array | null; readonly sealed: SealedParts };

/**
 * Encodes an event's ciphertexts as one frame, which becomes the event's data in EventStoreDB. The frame begins with
 * one byte that contains the format version. It is followed by the trace, the content and the cvc, in this order. Each
 * of these parts consists of a length (a 4-byte big-endian number) and that many bytes. If a part is absent, all bits
 * of its length are set and no bytes follow.
 */
export function sealedFrame({ trace, sealed }: Sealed): Uint8Array {
  const parts = [trace, sealed.content, sealed.cvc].flatMap((ciphertext) => {
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32BE(ciphertext === null ? absent : ciphertext.length);
    return ciphertext === null ? [length] : [length, ciphertext];
  });
  return Buffer.concat([Buffer.of(formatVersion), ...parts]);
}

/**
 * Decodes a frame. Returns each ciphertext in a separate buffer. Returns null if the frame is incomplete or has an
 * unknown version.
 */
export function openSealedFrame(frame: Uint8Array): Sealed | null {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  if (bytes[0] !== formatVersion) return null;
  const parts: (Buffer | null)[] = [];
  for (let at = 1; parts.length < 3; ) {
    if (at + lengthBytes > bytes.length) return null;
    const length = bytes.readUInt32BE(at);
    at += lengthBytes;
    if (length !== absent && at + length > bytes.length) return null;
    parts.push(length === absent ? null : Buffer.from(bytes.subarray(at, at + length)));
    if (length !== absent) at += length;
  }
  const [trace = null, content = null, cvc = null] = parts;
  return { trace, sealed: { content, cvc } };
}
