import { createHash } from 'node:crypto';
import type { NewEvent } from '../event.js';
import { lengthPrefixed } from '../sealing/length-prefixed.js';

/** What stands before the very first event. */
export const noLink: Uint8Array = new Uint8Array(32);

const absent = 0xffff_ffff;

/** An event with its place in its stream; its position in the log is not looked at, for a restored log has others. */
export type LinkedEvent = NewEvent & { readonly stream: string; readonly revision: number };

/**
 * The hash of an event in the chain over all events in log order (architecture, "Audit"): SHA-256 over the hash before,
 * stream, revision, id and type, and the hashes of all else that is clear and of all that is sealed. 32 bytes.
 */
export function eventLink(previous: Uint8Array, event: LinkedEvent): Buffer {
  const { stream, revision, id, type } = event;
  return createHash('sha256')
    .update(previous)
    .update(lengthPrefixed([stream, String(revision), id, type]))
    .update(clearHash(event))
    .update(sealedHash(event))
    .digest();
}

function clearHash({ version, tenantId, actorId, time, cmd, clear }: LinkedEvent): Buffer {
  const command = cmd === null ? [] : [cmd];
  const parts = [String(version), tenantId, actorId, String(time), JSON.stringify(clear), ...command];
  return createHash('sha256').update(lengthPrefixed(parts)).digest();
}

function sealedHash({ trace, sealed }: LinkedEvent): Buffer {
  const hash = createHash('sha256');
  for (const box of [trace, sealed.content, sealed.cvc]) {
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32BE(box === null ? absent : box.length);
    hash.update(length);
    if (box !== null) hash.update(box);
  }
  return hash.digest();
}
