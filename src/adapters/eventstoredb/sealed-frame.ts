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
 * Decodes a frame. Returns each ciphertext in a separate buffer. Throws if the frame is incomplete or has an unknown
 * version.
 */
export function openSealedFrame(frame: Uint8Array): Sealed {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  if (bytes[0] !== formatVersion) throw new Error('an event in EventStoreDB has an unknown format');
  let at = 1;
  const next = (): Buffer | null => {
    const length = bytes.readUInt32BE(at);
    at += lengthBytes;
    if (length === absent) return null;
    const ciphertext = Buffer.from(bytes.subarray(at, at + length));
    if (ciphertext.length !== length) throw new Error('an event in EventStoreDB is truncated');
    at += length;
    return ciphertext;
  };
  const [trace, content, cvc] = [next(), next(), next()];
  return { trace, sealed: { content, cvc } };
}
