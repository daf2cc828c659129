import {
  AccessDeniedError,
  convertToCommandError,
  DeadlineExceededError,
  type EventData,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
  UnavailableError,
} from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsClient from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { CallCredentials, Metadata } from '@grpc/grpc-js';
import { type Endpoint, type EventStoreDbAddress, nameOf } from './address.js';
import { maxAppendBytes } from './encode-events.js';
import { noAnswer } from './failure.js';
import { channelCredentials } from './gossip.js';

/** A node's response to one append. `position` is the position of the last event in the append. */
export type Appended =
  | { readonly outcome: 'appended'; readonly position: bigint | undefined }
  | { readonly outcome: 'conflict' };

type Pending = {
  readonly stream: string;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: Error) => void;
};

/** A long-lived gRPC call that carries all appends to a node. Once the call has failed, it cannot be used again. */
export type AppendStream = {
  /**
   * Appends events to a stream. If `expectedRevision` is -1, the stream must not exist. Rejects if this append or the
   * whole call fails.
   */
  append(stream: string, expectedRevision: number, events: readonly EventData[]): Promise<Appended>;
  close(): void;
};

/**
 * Opens the call on a separate connection. The EventStoreDB client's batch append is not used, because it stores the
 * pending appends of all calls in one map per process. An error in an old call would therefore also reject the appends
 * of a new call, and the responses to those appends would then crash the process.
 */
export function openAppendStream(
  endpoint: Endpoint,
  { tls, user }: Pick<EventStoreDbAddress, 'tls' | 'user'>,
  onEvent: { readonly heard: () => void; readonly failed: (error: Error) => void },
): AppendStream {
  const client = new streamsClient.StreamsClient(nameOf(endpoint), channelCredentials(tls), {
    // Without this option, gRPC could let this client share a connection with an earlier client for the same node, even
    // if that connection no longer responds.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 10_000,
  });
  const pending = new Map<string, Pending>();
  let sequence = 0;
  let opened: ReturnType<typeof client.batchAppend> | null = null;
  let ended: Error | null = null;

  const end = (error: Error) => {
    if (ended !== null) return;
    ended = error;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    client.close();
    onEvent.failed(error);
  };
  // Opens the call only when the first append is made. If it were opened earlier, a server that rejects the user would
  // end the call, and the error would be less clear than the one reported by a read.
  const open = () => {
    const metadata = new Metadata();
    metadata.set('requires-leader', 'true');
    // Sends the user's credentials only over TLS, because gRPC does not send passwords over other connections.
    const call = client.batchAppend(metadata, tls === null || user === null ? {} : { credentials: sent(user) });
    // This listener is never removed, because an error event without a listener would terminate the process.
    call.on('error', (error) => end(convertToCommandError(error)));
    call.on('end', () => end(noAnswer()));
    call.on('data', (response: streams.BatchAppendResp) => {
      onEvent.heard();
      const id = response.getCorrelationId()?.getString() ?? '';
      const waiting = pending.get(id);
      pending.delete(id);
      if (waiting !== undefined) settle(response, waiting);
    });
    return call;
  };

  return {
    append(stream, expectedRevision, events) {
      if (ended !== null) return Promise.reject(ended);
      opened ??= open();
      const call = opened;
      sequence += 1;
      // The id is unique within this call and has the format required by the protocol.
      const id = `00000000-0000-4000-8000-${sequence.toString(16).padStart(12, '0')}`;
      return new Promise((resolve, reject) => {
        pending.set(id, { stream, resolve, reject });
        call.write(request(id, stream, expectedRevision, events));
      });
    },
    close() {
      opened?.cancel();
      end(noAnswer());
    },
  };
}

/**
 * Returns the message for an append. A single message is always large enough, because an append contains at most 1 MiB
 * and a message can contain 16 MiB. The message specifies no deadline, because the server would compare the deadline
 * with its own clock.
 */
function request(
  id: string,
  stream: string,
  expectedRevision: number,
  events: readonly EventData[],
): streams.BatchAppendReq {
  const options = new streams.BatchAppendReq.Options().setStreamIdentifier(
    new shared.StreamIdentifier().setStreamName(Buffer.from(stream)),
  );
  if (expectedRevision === -1) options.setNoStream(new shared.Empty());
  else options.setStreamPosition(String(expectedRevision));
  return new streams.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(id))
    .setOptions(options)
    .setProposedMessagesList(events.map(proposed))
    .setIsFinal(true);
}

function proposed({ id, type, contentType, data, metadata }: EventData): streams.BatchAppendReq.ProposedMessage {
  const message = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(id))
    .setData(data instanceof Uint8Array ? data : Buffer.from(JSON.stringify(data)))
    .setCustomMetadata(Buffer.from(JSON.stringify(metadata)));
  message.getMetadataMap().set('type', type).set('content-type', contentType);
  return message;
}

function settle(response: streams.BatchAppendResp, { stream, resolve, reject }: Pending): void {
  const error = response.getError();
  if (error === undefined) {
    const commit = response.getSuccess()?.getPosition()?.getCommitPosition();
    resolve({ outcome: 'appended', position: commit === undefined ? undefined : BigInt(commit) });
    return;
  }
  const kind = error.getDetails()?.getTypeName() ?? '';
  if (kind === 'event_store.client.WrongExpectedVersion') resolve({ outcome: 'conflict' });
  else reject(errorOf(kind, stream));
}

/** Returns the error that the EventStoreDB client would throw if one of its own calls failed in the same way. */
function errorOf(kind: string, stream: string): Error {
  switch (kind) {
    case 'event_store.client.AccessDenied':
      return new AccessDeniedError();
    case 'event_store.client.StreamDeleted':
      return StreamDeletedError.fromStreamName(stream);
    case 'event_store.client.MaximumAppendSizeExceeded':
      return MaxAppendSizeExceededError.fromMaxAppendSize(maxAppendBytes);
    case 'event_store.client.BadRequest':
      return new InvalidArgumentError('bad request');
    case 'event_store.client.Timeout':
      return new DeadlineExceededError();
    default:
      // The node is not ready, is too busy, or has no leader.
      return new UnavailableError();
  }
}

function sent({ username, password }: NonNullable<EventStoreDbAddress['user']>): CallCredentials {
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return CallCredentials.createFromMetadataGenerator((_, done) => {
    const metadata = new Metadata();
    metadata.set('authorization', basic);
    done(null, metadata);
  });
}
