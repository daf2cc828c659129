import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';
import type { FoundProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';

/** Thrown when a document with this key already exists. */
export class DuplicateKey extends Error {
  constructor() {
    super('a document with this key already exists');
    this.name = 'DuplicateKey';
  }
}

export const duplicateKey = 11_000;

/** Waits for a write. Returns false if a document with its key already exists, and true if the write succeeds. */
export async function unlessDuplicate(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof DuplicateKey) return false;
    throw error;
  }
}

/**
 * Converts a driver error to one of our own errors. Drops the original error message, because it can contain documents.
 */
export function mongoError(error: unknown): unknown {
  if (isOfSocket(error)) return new StoreUnavailable('mongodb', 'unreachable');
  if (!(error instanceof MongoError)) return error;
  if (error instanceof MongoServerError && error.code === duplicateKey) return new DuplicateKey();
  if (isInAnotherSet(error)) return new StoreUnavailable('mongodb', 'unreachable', wrongSet);
  if (lacksHintedIndex(error)) return new StoreUnavailable('mongodb', 'index_missing', lostIndex);
  if (isPassing(error)) return new StoreUnavailable('mongodb', 'unreachable');
  return new Error(`mongodb: ${error.name} ${String(error.code ?? '')}`.trim());
}

/**
 * Returns true if every host in the address responded, but belongs to another replica set or to none. The driver then
 * stops using these hosts, so it knows no server at all.
 */
function isInAnotherSet(error: MongoError): boolean {
  return error instanceof MongoServerSelectionError && error.reason?.servers.size === 0;
}

const wrongSet = {
  check: 'stores',
  says: 'no host in mongodb.url or mongodb.keys_url belongs to the replica set that the address names',
  do: 'Correct replicaSet in the address. If the server belongs to no replica set, start it with --replSet',
} satisfies FoundProblem;

/** Returns true if the index that a query names is gone, for example because its collection was dropped. */
function lacksHintedIndex(error: MongoError): boolean {
  return error instanceof MongoServerError && error.code === badValue && hintPattern.test(error.message);
}

const badValue = 2;
const hintPattern = /hint provided does not correspond to an existing index/i;
const lostIndex = {
  check: 'indexes',
  says: 'MongoDB lacks an index that a query needs',
  do: 'Run `strongroom doctor`, which names it',
} satisfies FoundProblem;

function isPassing(error: MongoError): boolean {
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNotConnectedError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoWriteConcernError ||
    isFailedBatch(error) ||
    error.hasErrorLabel('RetryableWriteError') ||
    error.hasErrorLabel('TransientTransactionError') ||
    (error instanceof MongoServerError && passingCodes.has(Number(error.code)))
  );
}

/**
 * Returns true if Node.js reported the error because the server had just closed the connection. The driver (7.9) passes
 * this error on unchanged, or wraps it in a batch error with the same code.
 */
function isOfSocket(error: unknown): boolean {
  return error instanceof Error && 'code' in error && socketCodes.has(error.code);
}

const socketCodes = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

/**
 * Returns true if a whole batch failed, for example because of a broken connection. The driver wraps such a failure in
 * an error that does not reveal the original error's class.
 */
function isFailedBatch(error: MongoError): boolean {
  return error instanceof MongoBulkWriteError && error.code === undefined && [error.writeErrors].flat().length === 0;
}

/**
 * A retry can succeed after an error with one of these codes: MaxTimeMSExpired, WriteConcernFailed, NotWritablePrimary,
 * PrimarySteppedDown, ShutdownInProgress, InterruptedAtShutdown, InterruptedDueToReplStateChange,
 * NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary, ReadConcernMajorityNotAvailableYet, ExceededTimeLimit,
 * SnapshotTooOld, SnapshotUnavailable and Interrupted. Interrupted means that another process considered the
 * transaction abandoned and ended it.
 */
const passingCodes = new Set([50, 64, 10_107, 189, 91, 11_600, 11_602, 13_435, 13_436, 134, 262, 239, 246, 11_601]);
