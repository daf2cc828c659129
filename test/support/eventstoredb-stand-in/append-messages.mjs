import { createRequire } from 'node:module';
import { status } from '@grpc/grpc-js';
import { maxAppendBytes } from './event-store.mjs';
import { tooLarge } from './service-errors.mjs';

const require = createRequire(import.meta.url);
const { Any } = require('google-protobuf/google/protobuf/any_pb.js');
const { Empty: GoogleEmpty } = require('google-protobuf/google/protobuf/empty_pb.js');
const shared = require('@eventstore/db-client/generated/shared_pb.js');
const { Status } = require('@eventstore/db-client/generated/status_pb.js');
const { AppendResp, BatchAppendResp } = require('@eventstore/db-client/generated/streams_pb.js');

/**
 * @typedef {import('./event-store.mjs').AppendRequest} AppendRequest
 * @typedef {import('./event-store.mjs').AppendAnswer} AppendAnswer
 */

/**
 * Returns the options of an Append or a BatchAppend, which differ only in the name of the revision.
 * @param {any} options
 * @returns {Omit<AppendRequest, 'events'>}
 */
export function appendOptions(options) {
  const stream = Buffer.from(options.getStreamIdentifier().getStreamName()).toString('utf8');
  if (options.hasNoStream()) return { stream, expected: -1 };
  if (options.hasAny()) return { stream, expected: 'any' };
  if (options.hasStreamExists()) return { stream, expected: 'stream_exists' };
  return { stream, expected: Number((options.getStreamPosition ?? options.getRevision).call(options)) };
}

/** @param {any} message @returns {import('./event-store.mjs').ProposedEvent} */
export function proposedEvent(message) {
  return {
    id: message.getId().getString().toLowerCase(),
    type: message.getMetadataMap().get('type'),
    contentType: message.getMetadataMap().get('content-type'),
    data: Buffer.from(message.getData_asU8()),
    metadata: Buffer.from(message.getCustomMetadata_asU8()),
  };
}

/** @param {any} correlationId @param {AppendRequest} request @param {AppendAnswer} answer */
export function batchAppendAnswer(correlationId, request, answer) {
  const name = new shared.StreamIdentifier().setStreamName(Buffer.from(request.stream));
  const message = new BatchAppendResp().setCorrelationId(correlationId).setStreamIdentifier(name);
  if (answer.outcome === 'appended') {
    const position = new shared.AllStreamPosition()
      .setCommitPosition(String(answer.position))
      .setPreparePosition(String(answer.position));
    return message.setSuccess(
      new BatchAppendResp.Success().setCurrentRevision(String(answer.revision)).setPosition(position),
    );
  }
  if (answer.outcome === 'too_large') {
    const details = new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendBytes);
    return message.setError(failure('MaximumAppendSizeExceeded', details));
  }
  const details = new shared.WrongExpectedVersion();
  if (answer.revision < 0) details.setCurrentNoStream(new GoogleEmpty());
  else details.setCurrentStreamRevision(String(answer.revision));
  if (request.expected === 'stream_exists') details.setExpectedStreamExists(new GoogleEmpty());
  else if (request.expected === 'any') details.setExpectedAny(new GoogleEmpty());
  else if (request.expected < 0) details.setExpectedNoStream(new GoogleEmpty());
  else details.setExpectedStreamPosition(String(request.expected));
  return message.setError(failure('WrongExpectedVersion', details));
}

/**
 * Returns the response for one append in a batch. The append failed because the caller lacks permission or the cluster
 * has no leader.
 * @param {any} correlationId @param {AppendRequest} request @param {{ code: number, details: string }} error
 */
export function batchFailure(correlationId, request, { code, details }) {
  const name = new shared.StreamIdentifier().setStreamName(Buffer.from(request.stream));
  const any = new Any();
  if (code === status.PERMISSION_DENIED) {
    any.pack(new shared.AccessDenied().serializeBinary(), 'event_store.client.AccessDenied');
  } else any.pack(new GoogleEmpty().serializeBinary(), 'google.protobuf.Empty');
  return new BatchAppendResp()
    .setCorrelationId(correlationId)
    .setStreamIdentifier(name)
    .setError(new Status().setMessage(details).setDetails(any));
}

/** @param {AppendRequest} request @param {AppendAnswer} answer */
export function appendAnswer(request, answer) {
  if (answer.outcome === 'too_large') return { error: tooLarge(maxAppendBytes), message: null };
  if (answer.outcome === 'appended') {
    const position = new AppendResp.Position()
      .setCommitPosition(String(answer.position))
      .setPreparePosition(String(answer.position));
    const success = new AppendResp.Success().setCurrentRevision(String(answer.revision)).setPosition(position);
    return { error: null, message: new AppendResp().setSuccess(success) };
  }
  const wrong = new AppendResp.WrongExpectedVersion();
  if (answer.revision < 0) wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(String(answer.revision));
  if (request.expected === 'stream_exists') wrong.setExpectedStreamExists(new shared.Empty());
  else if (request.expected === 'any') wrong.setExpectedAny(new shared.Empty());
  else if (request.expected < 0) wrong.setExpectedNoStream(new shared.Empty());
  else wrong.setExpectedRevision(String(request.expected));
  return { error: null, message: new AppendResp().setWrongExpectedVersion(wrong) };
}

/** @param {string} name @param {any} details */
function failure(name, details) {
  const any = new Any();
  any.pack(details.serializeBinary(), `event_store.client.${name}`);
  return new Status().setCode(2).setMessage(name).setDetails(any);
}
