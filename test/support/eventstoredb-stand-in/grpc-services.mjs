import { createRequire } from 'node:module';
import { appendAnswer, appendOptions, batchAppendAnswer, proposedEvent } from './append-messages.mjs';
import { readRequest, streamNotFound, toReadResponse } from './read-messages.mjs';
import { unknownError } from './service-errors.mjs';

const require = createRequire(import.meta.url);
const { ServerFeaturesService } = require('@eventstore/db-client/generated/serverfeatures_grpc_pb.js');
const { SupportedMethod, SupportedMethods } = require('@eventstore/db-client/generated/serverfeatures_pb.js');
const { StreamsService } = require('@eventstore/db-client/generated/streams_grpc_pb.js');

/** @typedef {Awaited<ReturnType<typeof import('./event-store.mjs').createEventStore>>} EventStore */

/** @param {import('@grpc/grpc-js').Server} server @param {EventStore} store */
export function addServices(server, store) {
  server.addService(ServerFeaturesService, { getSupportedMethods });
  server.addService(StreamsService, {
    batchAppend: (/** @type {any} */ call) => batchAppend(store, call),
    append: (/** @type {any} */ call, /** @type {any} */ callback) => append(store, call, callback),
    read: (/** @type {any} */ call) => void read(store, call),
  });
}

/** @param {unknown} _call @param {any} callback */
function getSupportedMethods(_call, callback) {
  const methods = ['Read', 'Append', 'BatchAppend'].map((name) =>
    new SupportedMethod().setServiceName('event_store.client.streams.Streams').setMethodName(name),
  );
  callback(null, new SupportedMethods().setEventStoreServerVersion('stand-in').setMethodsList(methods));
}

/** Many appends on one call; each is answered by its correlation id when it is on disk. @param {EventStore} store @param {any} call */
function batchAppend(store, call) {
  /** @type {Map<string, import('./event-store.mjs').AppendRequest>} */
  const begun = new Map();
  let open = 0;
  let isEnding = false;
  const endWhenAnswered = () => {
    if (isEnding && open === 0) call.end();
  };
  call.on('data', async (/** @type {any} */ message) => {
    const correlationId = message.getCorrelationId();
    const key = correlationId.getString();
    const request = begun.get(key) ?? { ...appendOptions(message.getOptions()), events: [] };
    begun.set(key, request);
    request.events.push(...message.getProposedMessagesList().map(proposedEvent));
    if (!message.getIsFinal()) return;
    begun.delete(key);
    open += 1;
    const answer = await store.append(request);
    open -= 1;
    if (!call.cancelled) call.write(batchAppendAnswer(correlationId, request, answer));
    endWhenAnswered();
  });
  call.on('error', () => undefined);
  call.on('end', () => {
    isEnding = true;
    endWhenAnswered();
  });
}

/** One append on a call of its own: clients that send credentials use it. @param {EventStore} store @param {any} call @param {any} callback */
function append(store, call, callback) {
  /** @type {any[]} */
  const messages = [];
  call.on('data', (/** @type {any} */ message) => messages.push(message));
  call.on('end', async () => {
    const [options, ...events] = messages;
    const request = {
      ...appendOptions(options.getOptions()),
      events: events.map((message) => proposedEvent(message.getProposedMessage())),
    };
    const { error, message } = appendAnswer(request, await store.append(request));
    callback(error, message);
  });
}

/** @param {EventStore} store @param {any} call */
async function read(store, call) {
  const { stream, from, isBackwards, count } = readRequest(call.request.getOptions());
  const events = stream === null ? store.all() : store.stream(stream);
  if (stream !== null && events.length === 0) {
    call.write(streamNotFound(stream));
    call.end();
    return;
  }
  const place = stream === null ? 'position' : 'revision';
  const isUnknownPosition =
    stream === null && typeof from === 'number' && !events.some(({ position }) => position === from);
  const isPastTheEnd = typeof from === 'number' && from > (events.at(-1)?.[place] ?? -1);
  if (count <= 0 || (from === 'end' && !isBackwards) || (isUnknownPosition && !isPastTheEnd)) {
    call.emit('error', unknownError());
    return;
  }
  const isAsked = (/** @type {import('./event-store.mjs').StoredEvent} */ event) => {
    if (typeof from === 'string') return from === (isBackwards ? 'end' : 'start');
    if (!isBackwards) return event[place] >= from;
    // The position is exclusive backwards, the revision is not.
    return stream === null ? event[place] < from : event[place] <= from;
  };
  const asked = events.filter(isAsked);
  const answered = isBackwards ? asked.slice(-count).reverse() : asked.slice(0, count);
  for (const event of answered) {
    if (call.cancelled) return;
    if (!call.write(toReadResponse(event))) await new Promise((resolve) => call.once('drain', resolve));
  }
  call.end();
}
