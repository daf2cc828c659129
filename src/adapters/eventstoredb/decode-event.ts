import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client';
import type { StoredClear, StoredEvent } from '../../events/commit.js';
import { ourMetadata } from './event-metadata.js';
import { positionOf } from './position.js';
import { openSealedFrame } from './sealed-frame.js';

/** An event as the EventStoreDB client returns it, from a stream or from `$all`. */
export type ReadEvent = Pick<ResolvedEvent | AllStreamResolvedEvent, 'event' | 'commitPosition'>;

/**
 * Decodes an event. Returns null for a system event and for an event that another program has stored on the same
 * server.
 */
export function decodeEvent(read: ReadEvent): StoredEvent | null {
  const clear = decodeClear(read);
  if (clear === null) return null;
  const data = read.event?.data;
  if (!(data instanceof Uint8Array)) throw new Error('an event in EventStoreDB has an unknown format');
  return { ...clear, ...openSealedFrame(data) };
}

/** Decodes an event without reading its ciphertexts. */
export function decodeClear({ event, commitPosition }: ReadEvent): StoredClear | null {
  if (event === undefined || event.type.startsWith('$') || event.streamId.startsWith('$')) return null;
  const ours = ourMetadata(event.metadata);
  if (ours === null) return null;
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
    stream: event.streamId,
    revision: Number(event.revision),
    position: positionOf(commitPosition),
    proof: {
      first,
      digests: digests === null ? null : Buffer.from(digests, 'base64url'),
      sealedHash: Buffer.from(sealed, 'base64url'),
      mac: Buffer.from(mac, 'base64url'),
    },
  };
}
