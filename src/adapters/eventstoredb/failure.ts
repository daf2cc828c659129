import { ErrorType, isCommandError, StreamNotFoundError } from '@eventstore/db-client';
import { StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';

const store = 'eventstoredb';
const unknown = 2;
const invalidArgument = 3;
const unauthenticated = 16;
/** Errors after which the server would give the same response again. */
const lastingTypes: readonly string[] = [
  ErrorType.WRONG_EXPECTED_VERSION,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.STREAM_NOT_FOUND,
  ErrorType.STREAM_DELETED,
  ErrorType.ACCESS_DENIED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.UNSUPPORTED,
];
/** Errors that say that the server could not finish in time. */
const busyTypes: readonly string[] = [ErrorType.TIMEOUT, ErrorType.DEADLINE_EXCEEDED];
/** The StoreUnavailable reasons for a user that EventStoreDB rejects. */
export const rejectedUser = { wrongPassword: 'wrong_credentials', noRight: 'access_denied' } as const;

/** Thrown when EventStoreDB cannot be used as it is set up. The message says what to do. */
export class EventStoreDbBroken extends StoreProblem {
  constructor(message: string) {
    super(message);
    this.name = 'EventStoreDbBroken';
  }
}

/** Returns the error for a server that did not respond in time. The server may have carried out the request. */
export function noAnswer(reason = 'no answer'): StoreUnavailable {
  return new StoreUnavailable(store, reason);
}

/**
 * Classifies the error of a call. `lasting`: the same call would fail again. `busy`: the same node may succeed later.
 * `lost`: the node does not lead or cannot be reached. The client reports an unreachable server with a `type`, with
 * only a gRPC `code`, or, during discovery, with neither, so an error that has neither counts as `lost`.
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
  // A node without a leader reports this as an unknown error: "No leader info available in response".
  if (code === unknown) return error instanceof Error && /leader/i.test(error.message) ? 'lost' : 'lasting';
  return 'lost';
}

/**
 * Translates the error of a call, because the client's message may quote what was sent. A missing stream is not a
 * failure.
 */
export function translated(error: unknown): Error {
  if (error instanceof StoreUnavailable || error instanceof EventStoreDbBroken) return error;
  if (error instanceof StreamNotFoundError) return error;
  if (kindOf(error) !== 'lasting') return noAnswer('unreachable');
  if (!(error instanceof Error && isCommandError(error))) return new Error(`${store}: rejected`);
  if (error.type !== ErrorType.ACCESS_DENIED) return new Error(`${store}: ${error.type}`);
  return noAnswer(error.code === unauthenticated ? rejectedUser.wrongPassword : rejectedUser.noRight);
}
