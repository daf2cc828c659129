import { binaryEvent, type EventData } from '@eventstore/db-client';
import type { NewEvent } from '../../events/event.js';
import type { EventMetadata } from './event-metadata.js';
import { sealedFrame } from './sealed-frame.js';

/** EventStoreDB refuses more in one append, all its events together. */
export const maxAppendBytes = 1024 * 1024;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Events as EventStoreDB stores them: what is sealed is the data, all else is the metadata. Throws for what the client
 * would answer with a rejection that nobody can catch, and for more than one append can hold: both are bugs of a caller.
 */
export function encodeEvents(events: readonly NewEvent[]): EventData[] {
  if (events.length === 0) throw new Error('an append needs an event');
  const encoded = events.map(encodeEvent);
  const bytes = encoded.reduce((sum, { size }) => sum + size, 0);
  if (bytes > maxAppendBytes) {
    throw new Error(`an append of ${bytes} bytes is more than the ${maxAppendBytes} that EventStoreDB takes`);
  }
  return encoded.map(({ data }) => data);
}

function encodeEvent(event: NewEvent): { readonly data: EventData; readonly size: number } {
  const { id, type, version, tenantId, actorId, time, cmd, clear } = event;
  if (!uuid.test(id)) throw new Error('the id of an event must be a UUID in lower case');
  if (type === '' || type.startsWith('$')) throw new Error('an event needs a type that is no system type');
  const metadata: EventMetadata = { strongroom: 1, version, tenant: tenantId, actor: actorId, time, cmd, clear };
  const frame = sealedFrame(event);
  const size = frame.length + Buffer.byteLength(JSON.stringify(metadata)) + 2 * type.length;
  return { data: binaryEvent({ id, type, data: frame, metadata }), size };
}
