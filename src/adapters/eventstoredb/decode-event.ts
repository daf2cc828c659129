import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client';
import type { StoredClear, StoredEvent } from '../../events/commit.js';
import { ForgedLog } from '../../ports/event-log.js';
import { hasMark, readMetadata } from './event-metadata.js';
import { positionOf } from './position.js';
import { openSealedFrame } from './sealed-frame.js';

/** An event as the EventStoreDB client returns it, from a stream or from `$all`. */
export type ReadEvent = Pick<ResolvedEvent | AllStreamResolvedEvent, 'event' | 'commitPosition'>;

const unknownFormat = 'has an unknown format';

/** Returns true if the vault wrote this event, and false for a system event or an event of another program. */
export function isOurs({ event }: ReadEvent): boolean {
  if (event === undefined || event.type.startsWith('$') || event.streamId.startsWith('$')) return false;
  return hasMark(event.metadata);
}

/** Returns the place of an event. */
export function placeOf({ event, commitPosition }: ReadEvent) {
  const { streamId: stream = '', revision = 0 } = event ?? {};
  return { position: positionOf(commitPosition), stream, revision: Number(revision) };
}

/**
 * Decodes an event. Returns null for a system event and for an event that another program has stored on the same
 * server. Throws ForgedLog if the event has the vault's mark, but is malformed.
 */
export function decodeEvent(read: ReadEvent): StoredEvent | null {
  const clear = decodeClear(read);
  if (clear === null) return null;
  const data = read.event?.data;
  const sealed = data instanceof Uint8Array ? openSealedFrame(data) : null;
  if (sealed === null) throw ForgedLog.at(clear, unknownFormat);
  return { ...clear, ...sealed };
}

/** Like `decodeEvent`, but does not read the ciphertexts. */
export function decodeClear(read: ReadEvent): StoredClear | null {
  const { event } = read;
  if (event === undefined || !isOurs(read)) return null;
  const ours = readMetadata(event.metadata);
  if (ours === null) throw ForgedLog.at(placeOf(read), unknownFormat);
  const { version, tenant, actor, time, cmd, clear, first, digests, sealed, mac } = ours;
  return {
    id: event.id,
    type: event.type,
    version,
    tenantId: tenant,
    actorId: actor,
    time,
    cmd,
    clear,
    ...placeOf(read),
    proof: {
      first,
      digests: digests === null ? null : Buffer.from(digests, 'base64url'),
      sealedHash: Buffer.from(sealed, 'base64url'),
      mac: Buffer.from(mac, 'base64url'),
    },
  };
}
