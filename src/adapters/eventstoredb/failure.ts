import { ErrorType, isCommandError, StreamNotFoundError } from '@eventstore/db-client';
import { StoreUnavailable } from '../../ports/store-unavailable.js';

const store = 'eventstoredb';
/** UNKNOWN and INVALID_ARGUMENT of gRPC: the server understood and will say the same again. */
const lastingCodes = [2, 3];
const lastingTypes: readonly string[] = [
  ErrorType.WRONG_EXPECTED_VERSION,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.STREAM_NOT_FOUND,
  ErrorType.STREAM_DELETED,
  ErrorType.ACCESS_DENIED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.UNSUPPORTED,
];

/** The server did not answer in time, or not at all. What was asked may have happened. */
export function noAnswer(): StoreUnavailable {
  return new StoreUnavailable(store, 'no answer');
}

/**
 * Whether a call may succeed when it is made again. The client tells of a server that is away in two shapes: by `type`,
 * and after the first time by the `code` of gRPC alone. What has neither is no error of the client.
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'number' && lastingCodes.includes(code)) return false;
  return isCommandError(error) ? !lastingTypes.includes(error.type) : code !== undefined;
}

/** The library's error in our words; its message may quote what was sent. That a stream is missing is no failure. */
export function translated(error: unknown): Error {
  if (error instanceof StoreUnavailable || error instanceof StreamNotFoundError) return error;
  if (isPassing(error)) return new StoreUnavailable(store, 'unreachable');
  if (!(error instanceof Error)) return new Error('not an error');
  if (!isCommandError(error)) return error;
  if (error.type === ErrorType.ACCESS_DENIED) return new StoreUnavailable(store, 'access denied');
  return new Error(`${store}: ${error.type}`);
}
