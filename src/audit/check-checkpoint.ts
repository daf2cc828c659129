import { verify } from 'node:crypto';
import { type Checkpoint, checkpointHash, signedBytes } from '../events/audit/checkpoint.js';
import { keyName } from './make-checkpoint.js';

/** Returns a description of what is wrong with a checkpoint's signature. Returns null if the signature is valid. */
export function signatureProblem(checkpoint: Checkpoint, publicKey: string): string | null {
  const { number, signature, signed_by: signedBy } = checkpoint;
  if (signedBy !== keyName(publicKey)) return `checkpoint ${number} is signed by another key`;
  const signed = signedBytes(checkpointHash(checkpoint));
  const isSigned = verify(null, signed, publicKey, Buffer.from(signature, 'base64'));
  return isSigned
    ? null
    : `the signature of checkpoint ${number} is not valid: the checkpoint or its signature was changed`;
}

/**
 * Returns the reason why a checkpoint cannot come right after `before`. Returns null if the checkpoint can come right
 * after it, or if `before` is null.
 */
export function orderProblem(checkpoint: Checkpoint, before: Checkpoint | null): string | null {
  if (before === null) return null;
  const { number, previous, log_id: logId } = checkpoint;
  if (number !== before.number + 1) return `checkpoint ${before.number + 1} is missing before checkpoint ${number}`;
  if (logId !== before.log_id) return `checkpoint ${number} belongs to another log`;
  return previous === checkpointHash(before) ? null : `checkpoint ${number} does not name the one before it`;
}
