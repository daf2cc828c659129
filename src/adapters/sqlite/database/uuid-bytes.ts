import { noEvent } from '../../../ports/key-store.js';

/** Returns the 16 bytes of a UUID. `uuidText` is the inverse. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** `noEvent`, as bytes. It has the same size as the id of an event, which can therefore replace it in place. */
export const noEventBytes = uuidBytes(noEvent);

export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
