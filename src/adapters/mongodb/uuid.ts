import { UUID } from 'mongodb';

/** A UUID as its 16 bytes, and back: the driver hands binary values over as Buffers. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(new UUID(uuid).buffer);
}

export function uuidText(bytes: Buffer): string {
  return new UUID(bytes).toHexString();
}
