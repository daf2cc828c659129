import { binaryEvent, type EventData } from '@eventstore/db-client';
import type { Commit } from '../../events/commit.js';
import type { EventMetadata } from './event-metadata.js';
import { sealedFrame } from './sealed-frame.js';

/** The maximum total size of all events in one append to EventStoreDB, in bytes. */
export const maxAppendBytes = 1024 * 1024;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type CommittedEvent = Commit['events'][number];

/**
 * Encodes events for EventStoreDB. An event's ciphertexts become its data, and everything else becomes its metadata.
 * Throws if the events are too large for one append, or if the client would react to them with a promise rejection that
 * cannot be caught. Both cases are bugs in the caller.
 */
export function encodeEvents(events: readonly CommittedEvent[]): EventData[] {
  if (events.length === 0) throw new Error('an append must have at least one event');
  const encoded = events.map(encodeEvent);
  const bytes = encoded.reduce((sum, { size }) => sum + size, 0);
  if (bytes > maxAppendBytes) {
    throw new Error(`an append of ${bytes} bytes is more than the ${maxAppendBytes} that EventStoreDB accepts`);
  }
  return encoded.map(({ data }) => data);
}

function encodeEvent(event: CommittedEvent): { readonly data: EventData; readonly size: number } {
  const { id, type, version, tenantId, actorId, time, cmd, clear, proof } = event;
  if (!uuid.test(id)) throw new Error('an event id must be a lowercase UUID');
  if (type === '' || type.startsWith('$'))
    throw new Error('an event must have a type, which must not be a system type');
  const metadata: EventMetadata = {
    strongroom: 2,
    version,
    tenant: tenantId,
    actor: actorId,
    time,
    cmd,
    clear,
    first: proof.first,
    digests: proof.digests === null ? null : base64url(proof.digests),
    sealed: base64url(proof.sealedHash),
    mac: base64url(proof.mac),
  };
  const frame = sealedFrame(event);
  const size = frame.length + Buffer.byteLength(JSON.stringify(metadata)) + 2 * type.length;
  return { data: binaryEvent({ id, type, data: frame, metadata }), size };
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}
