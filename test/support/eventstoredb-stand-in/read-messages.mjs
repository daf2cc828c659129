import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { StreamIdentifier, UUID } = require('@eventstore/db-client/generated/shared_pb.js');
const { ReadResp } = require('@eventstore/db-client/generated/streams_pb.js');

/**
 * Returns what a request reads: a stream from a revision on or, if `stream` is null, all events from a position on.
 * @param {any} options
 * @returns {{ stream: string | null, from: number | 'start' | 'end', isBackwards: boolean, count: number }}
 */
export function readRequest(options) {
  const isBackwards = options.getReadDirection() === 1;
  const count = Number(options.getCount());
  const place = options.hasAll() ? options.getAll() : options.getStream();
  const stream = options.hasAll() ? null : textOf(place.getStreamIdentifier());
  if (place.hasStart()) return { stream, from: 'start', isBackwards, count };
  if (place.hasEnd()) return { stream, from: 'end', isBackwards, count };
  const from = Number(stream === null ? place.getPosition().getCommitPosition() : place.getRevision());
  return { stream, from, isBackwards, count };
}

/** @param {import('./event-store.mjs').StoredEvent} event */
export function toReadResponse(event) {
  const record = new ReadResp.ReadEvent.RecordedEvent()
    .setId(new UUID().setString(event.id))
    .setStreamIdentifier(identifier(event.stream))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(String(event.position))
    .setPreparePosition(String(event.position))
    .setData(event.data)
    .setCustomMetadata(event.metadata);
  record.getMetadataMap().set('type', event.type);
  record.getMetadataMap().set('content-type', event.contentType);
  // The time is in units of 100 ns since 1970.
  record.getMetadataMap().set('created', String(BigInt(event.created) * 10_000n));
  return new ReadResp().setEvent(new ReadResp.ReadEvent().setEvent(record).setCommitPosition(String(event.position)));
}

/** @param {string} stream */
export function streamNotFound(stream) {
  return new ReadResp().setStreamNotFound(new ReadResp.StreamNotFound().setStreamIdentifier(identifier(stream)));
}

/** @param {string} stream */
function identifier(stream) {
  return new StreamIdentifier().setStreamName(Buffer.from(stream));
}

/** @param {any} name */
function textOf(name) {
  return Buffer.from(name.getStreamName()).toString('utf8');
}
