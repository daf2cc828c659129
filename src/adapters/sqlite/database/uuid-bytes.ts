import { noEvent } from '../../../ports/key-store.js';

/** Returns the 16 bytes of a UUID. `uuidText` is the inverse. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** `noEvent`, as bytes. It has the same size as the id of an event, which can therefore replace it in place. */
export const noEventBytes = uuidBytes(noEvent);

export function uuidText(bytes: Uint8Array): string {
  return uuidOfHex(Buffer.from(bytes).toString('hex'));
}

/** Returns the UUID whose 16 bytes are written as hex. */
export function uuidOfHex(digits: string): string {
  const hex = digits.toLowerCase();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
