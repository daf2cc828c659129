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
import { StoreUnavailable } from '../../ports/store-unavailable.js';

/** A document with this key is there already: somebody was first. */
export class DuplicateKey extends Error {
  constructor() {
    super('a document with this key is there already');
    this.name = 'DuplicateKey';
  }
}

const duplicateKey = 11_000;

/** Translates an error of the driver at the edge of the adapter. Its messages quote documents, so none is kept. */
export function mongoError(error: unknown): unknown {
  if (isOfSocket(error)) return new StoreUnavailable('mongodb', 'unreachable');
  if (!(error instanceof MongoError)) return error;
  if (error instanceof MongoServerError && error.code === duplicateKey) return new DuplicateKey();
  if (isPassing(error)) return new StoreUnavailable('mongodb', 'unreachable');
  return new Error(`mongodb: ${error.name} ${String(error.code ?? '')}`.trim());
}

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
 * What Node.js throws at a write to a connection that the server has just closed: the driver (7.9) passes it on as it is, or
 * as a batch that failed with this code.
 */
function isOfSocket(error: unknown): boolean {
  return error instanceof Error && 'code' in error && socketCodes.has(error.code);
}

const socketCodes = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

/** The driver wraps whatever befell a batch on its way, a broken connection too, and keeps no class of it. */
function isFailedBatch(error: MongoError): boolean {
  return error instanceof MongoBulkWriteError && error.code === undefined && [error.writeErrors].flat().length === 0;
}

/**
 * MaxTimeMSExpired, WriteConcernFailed, NotWritablePrimary, PrimarySteppedDown, ShutdownInProgress,
 * InterruptedAtShutdown, InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary,
 * ReadConcernMajorityNotAvailableYet, ExceededTimeLimit, SnapshotTooOld, SnapshotUnavailable, Interrupted (by a process
 * that took the transaction for left).
 */
const passingCodes = new Set([50, 64, 10_107, 189, 91, 11_600, 11_602, 13_435, 13_436, 134, 262, 239, 246, 11_601]);
