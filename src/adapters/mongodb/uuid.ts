import { UUID } from 'mongodb';

/** Returns the 16 bytes of a UUID as a Buffer, because the driver returns binary values as Buffers. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(new UUID(uuid).buffer);
}

export function uuidText(bytes: Buffer): string {
  return new UUID(bytes).toHexString();
}
