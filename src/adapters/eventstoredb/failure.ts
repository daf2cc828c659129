import { ErrorType, isCommandError, StreamNotFoundError } from '@eventstore/db-client';
import { StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';

const store = 'eventstoredb';
const unknown = 2;
const invalidArgument = 3;
const unauthenticated = 16;
/** The errors that the server would return again if the call were repeated. */
const lastingTypes: readonly string[] = [
  ErrorType.WRONG_EXPECTED_VERSION,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.STREAM_NOT_FOUND,
  ErrorType.STREAM_DELETED,
  ErrorType.ACCESS_DENIED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.UNSUPPORTED,
];
/** The errors of calls that the server did not finish in time. */
const busyTypes: readonly string[] = [ErrorType.TIMEOUT, ErrorType.DEADLINE_EXCEEDED];
/** The `reason` of a StoreUnavailable error when EventStoreDB rejects the user. */
export const rejectedUser = { wrongPassword: 'wrong_credentials', noRight: 'access_denied' } as const;

/**
 * Thrown when EventStoreDB is configured in a way that the vault cannot use. The message tells the operator how to fix
 * it.
 */
export class EventStoreDbBroken extends StoreProblem {
  constructor(message: string) {
    super(message);
    this.name = 'EventStoreDbBroken';
  }
}

/** Returns the error for a server that did not respond in time. The server may still have executed the request. */
export function noAnswer(reason = 'no answer'): StoreUnavailable {
  return new StoreUnavailable(store, reason);
}

/**
 * Classifies an error thrown by a call:
 * - `lasting`: the same call would fail again.
 * - `busy`: a later call to the same node may succeed.
 * - `lost`: the node is not the leader or cannot be reached.
 *
 * If the server cannot be reached, the client reports an error with a `type` or with only a gRPC `code`. During
 * discovery, the error has neither of them. An error without `type` and `code` is therefore classified as `lost`.
 */
export function kindOf(error: unknown): 'lasting' | 'busy' | 'lost' {
  if (error instanceof EventStoreDbBroken) return 'lasting';
  if (error instanceof StoreUnavailable) return 'busy';
  if (error instanceof Error && isCommandError(error)) {
    if (lastingTypes.includes(error.type)) return 'lasting';
    if (busyTypes.includes(error.type)) return 'busy';
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === invalidArgument) return 'lasting';
  // A node without a leader returns an error with the code UNKNOWN and the message "No leader info available in
  // response".
  if (code === unknown) return error instanceof Error && /leader/i.test(error.message) ? 'lost' : 'lasting';
  return 'lost';
}

/**
 * Replaces an error thrown by a client call with one of ours, because the client's message can contain data from the
 * request. Returns StreamNotFoundError unchanged, because a missing stream is not a failure.
 */
export function translated(error: unknown): Error {
  if (error instanceof StoreUnavailable || error instanceof EventStoreDbBroken) return error;
  if (error instanceof StreamNotFoundError) return error;
  if (kindOf(error) !== 'lasting') return noAnswer('unreachable');
  if (!(error instanceof Error && isCommandError(error))) return new Error(`${store}: rejected`);
  if (error.type !== ErrorType.ACCESS_DENIED) return new Error(`${store}: ${error.type}`);
  return noAnswer(error.code === unauthenticated ? rejectedUser.wrongPassword : rejectedUser.noRight);
}
