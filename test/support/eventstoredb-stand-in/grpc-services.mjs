import { createRequire } from 'node:module';
import { status } from '@grpc/grpc-js';
import { appendAnswer, appendOptions, batchAppendAnswer, batchFailure, proposedEvent } from './append-messages.mjs';
import { readRequest, streamNotFound, toReadResponse } from './read-messages.mjs';
import { notLeader, unknownError, wrongExpectedVersion } from './service-errors.mjs';

const require = createRequire(import.meta.url);
const { GossipService } = require('@eventstore/db-client/generated/gossip_grpc_pb.js');
const { ClusterInfo, EndPoint, MemberInfo } = require('@eventstore/db-client/generated/gossip_pb.js');
const { UUID } = require('@eventstore/db-client/generated/shared_pb.js');
const { ServerFeaturesService } = require('@eventstore/db-client/generated/serverfeatures_grpc_pb.js');
const { SupportedMethod, SupportedMethods } = require('@eventstore/db-client/generated/serverfeatures_pb.js');
const { StreamsService } = require('@eventstore/db-client/generated/streams_grpc_pb.js');

/**
 * @typedef {import('./cluster-member.mjs').Member} Member
 * @typedef {import('./cluster-member.mjs').EventStore} EventStore
 * @typedef {ReturnType<typeof import('./access.mjs').createAccess>} Access
 */

/** @param {import('@grpc/grpc-js').Server} server @param {Member} member @param {Access} access */
export function addServices(server, member, access) {
  /**
   * Returns the store if this process is the leader and the caller has the permission. Otherwise, fails the call with
   * `fail`.
   * @param {any} call @param {import('./access.mjs').Right} right @param {string} stream
   * @param {(error: any) => void} fail
   */
  const storeFor = async (call, right, stream, fail) => {
    const store = await member.store();
    const error =
      'endpoint' in store
        ? notLeader(store.endpoint)
        : access.refusal(store, call.metadata.get('authorization')[0], right, stream);
    if (error !== null) fail(error);
    return error === null && !('endpoint' in store) ? store : null;
  };

  server.addService(GossipService, { read: (_call, callback) => callback(null, clusterInfo(member)) });
  server.addService(ServerFeaturesService, { getSupportedMethods });
  server.addService(StreamsService, {
    batchAppend: (/** @type {any} */ call) => batchAppend(storeFor, call),
    append: (/** @type {any} */ call, /** @type {any} */ callback) => append(storeFor, call, callback),
    read: (/** @type {any} */ call) => void read(storeFor, call),
    delete: (/** @type {any} */ call, /** @type {any} */ callback) => remove(storeFor, call, callback),
    tombstone: (/** @type {any} */ call, /** @type {any} */ callback) => remove(storeFor, call, callback),
  });
}

/** @typedef {(call: any, right: import('./access.mjs').Right, stream: string, fail: (error: any) => void) => Promise<EventStore | null>} StoreFor */

/**
 * Returns the cluster info. A single server does not know its address, so it reports itself with port 0.
 * @param {Member} member
 */
function clusterInfo(member) {
  const { LEADER, FOLLOWER, UNKNOWN } = MemberInfo.VNodeState;
  const state = member.state() ?? { leader: 0, ports: [0], isAlive: [true] };
  const members = state.ports.map((port, index) =>
    new MemberInfo()
      .setInstanceId(new UUID().setString(`00000000-0000-4000-8000-00000000000${index}`))
      .setTimeStamp(String(Date.now()))
      .setState(state.leader === index ? LEADER : state.leader === null ? UNKNOWN : FOLLOWER)
      .setIsAlive(state.isAlive[index] ?? false)
      .setHttpEndPoint(new EndPoint().setAddress('127.0.0.1').setPort(port)),
  );
  return new ClusterInfo().setMembersList(members);
}

/** @param {unknown} _call @param {any} callback */
function getSupportedMethods(_call, callback) {
  const methods = ['Read', 'Append', 'BatchAppend'].map((name) =>
    new SupportedMethod().setServiceName('event_store.client.streams.Streams').setMethodName(name),
  );
  callback(null, new SupportedMethods().setEventStoreServerVersion('stand-in').setMethodsList(methods));
}

/**
 * Handles many appends on one call. Responds to each append, by its correlation id, once the append is on disk. If
 * another process is the leader, the whole call fails with the address of that process.
 * @param {StoreFor} storeFor @param {any} call
 */
function batchAppend(storeFor, call) {
  /** @type {Map<string, import('./event-store.mjs').AppendRequest>} */
  const begun = new Map();
  let open = 0;
  let isEnding = false;
  const endWhenAnswered = () => {
    if (isEnding && open === 0) call.end();
  };
  // An unknown user is rejected before the first append.
  void storeFor(call, '$w', '', (error) => {
    if (error.code === status.UNAUTHENTICATED) call.emit('error', error);
  });
  call.on('data', async (/** @type {any} */ message) => {
    const correlationId = message.getCorrelationId();
    const key = correlationId.getString();
    const request = begun.get(key) ?? { ...appendOptions(message.getOptions()), events: [] };
    begun.set(key, request);
    request.events.push(...message.getProposedMessagesList().map(proposedEvent));
    if (!message.getIsFinal()) return;
    begun.delete(key);
    open += 1;
    /** @param {any} error */
    const fail = (error) => {
      if (call.cancelled) return;
      if (error.code === status.NOT_FOUND || error.code === status.UNAUTHENTICATED) call.emit('error', error);
      else call.write(batchFailure(correlationId, request, error));
    };
    try {
      const store = await storeFor(call, '$w', request.stream, fail);
      const answer = await store?.append(request);
      if (answer !== undefined && !call.cancelled) call.write(batchAppendAnswer(correlationId, request, answer));
    } catch {
      fail(notLeader(null));
    }
    open -= 1;
    endWhenAnswered();
  });
  call.on('error', () => undefined);
  call.on('end', () => {
    isEnding = true;
    endWhenAnswered();
  });
}

/**
 * Handles a single append on one call. Clients that send credentials use this method.
 * @param {StoreFor} storeFor @param {any} call @param {any} callback
 */
function append(storeFor, call, callback) {
  /** @type {any[]} */
  const messages = [];
  call.on('data', (/** @type {any} */ message) => messages.push(message));
  call.on('end', async () => {
    const [options, ...events] = messages;
    const request = {
      ...appendOptions(options.getOptions()),
      events: events.map((message) => proposedEvent(message.getProposedMessage())),
    };
    const store = await storeFor(call, '$w', request.stream, callback);
    if (store === null) return;
    try {
      const { error, message } = appendAnswer(request, await store.append(request));
      callback(error, message);
    } catch {
      callback(notLeader(null));
    }
  });
}

/**
 * Handles a delete or a tombstone. Checks the caller's permission, and whether the stream exists. Does not delete
 * anything.
 * @param {StoreFor} storeFor @param {any} call @param {any} callback
 */
async function remove(storeFor, call, callback) {
  const options = call.request.getOptions();
  const stream = Buffer.from(options.getStreamIdentifier().getStreamName()).toString('utf8');
  const store = await storeFor(call, '$d', stream, callback);
  if (store === null) return;
  const isThere = store.stream(stream).length > 0;
  callback(
    isThere
      ? { code: status.UNIMPLEMENTED, details: 'the stand-in deletes nothing' }
      : wrongExpectedVersion(stream, options.getRevision()),
  );
}

/**
 * Returns the index of the first event whose position or revision is at least `from`. Like the index of a real server,
 * this takes about as long for many events as for few.
 * @param {readonly import('./event-store.mjs').StoredEvent[]} events @param {'position' | 'revision'} place
 * @param {number} from
 */
function firstFrom(events, place, from) {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.[place] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {StoreFor} storeFor @param {any} call */
async function read(storeFor, call) {
  const { stream, from, isBackwards, count } = readRequest(call.request.getOptions());
  const store = await storeFor(call, '$r', stream ?? '$all', (error) => call.emit('error', error));
  if (store === null) return;
  const events = stream === null ? store.all() : store.stream(stream);
  if (stream !== null && events.length === 0) {
    call.write(streamNotFound(stream));
    call.end();
    return;
  }
  const place = stream === null ? 'position' : 'revision';
  const at = typeof from === 'number' ? firstFrom(events, place, from) : from === 'start' ? 0 : events.length;
  const isUnknownPosition = stream === null && typeof from === 'number' && events[at]?.position !== from;
  const isPastTheEnd = typeof from === 'number' && from > (events.at(-1)?.[place] ?? -1);
  // Server 23.10.6 never ends a read of zero events, so the stand-in does not end it either.
  if (count <= 0) return;
  if (isUnknownPosition && !isPastTheEnd) {
    call.emit('error', unknownError());
    return;
  }
  // In a backward read, the start position is exclusive, but the start revision is inclusive.
  const end = stream !== null && events[at]?.revision === from ? at + 1 : at;
  const answered = isBackwards ? events.slice(Math.max(0, end - count), end).reverse() : events.slice(at, at + count);
  for (const event of answered) {
    if (call.cancelled) return;
    if (!call.write(toReadResponse(event))) await new Promise((resolve) => call.once('drain', resolve));
  }
  call.end();
}
