import { createHash } from 'node:crypto';
import {
  type Checkpoint,
  checkpointClear,
  checkpointHash,
  checkpointStream,
  checkpointType,
  checkpointVersion,
  signedBytes,
} from '../events/audit/checkpoint.js';
import { treeRoot } from '../events/audit/merkle.js';
import { systemEvent } from '../events/event.js';
import type { SigningKey } from '../keys/key-ring.js';
import type { AccessHead } from '../ports/access-log.js';
import type { EventLog } from '../ports/event-log.js';
import type { ProvenChain } from './proven-chain.js';

type Signed = {
  readonly logId: string;
  /** The previous checkpoint. Null for the first checkpoint. */
  readonly last: Checkpoint | null;
  readonly head: ProvenChain;
  /** True for the first checkpoint of its hour. */
  readonly isHourly: boolean;
  readonly access: readonly AccessHead[];
  /** The time when the checkpoint is signed, in milliseconds since the epoch. */
  readonly time: number;
};

/**
 * Returns the id by which checkpoints identify the signing key. It is the SHA-256 hash of the PEM-encoded public key,
 * in hex.
 */
export function keyName(publicKey: string): string {
  return createHash('sha256').update(publicKey).digest('hex');
}

/** Signs the head of the chain in a new checkpoint that follows `last`. */
export function signCheckpoint(key: SigningKey, { logId, last, head, isHourly, access, time }: Signed): Checkpoint {
  const number = (last?.number ?? 0) + 1;
  const { hourly, hours } = last ?? { hourly: number, hours: 0 };
  const unsigned = {
    log_id: logId,
    number,
    time,
    hourly: isHourly ? number : hourly,
    hours: isHourly ? hours + 1 : hours,
    position: head.position,
    count: head.tree.size,
    hash: hex(head.link),
    root: hex(treeRoot(head.tree)),
    previous: last === null ? null : checkpointHash(last),
    access: access.map(({ chain, sequence, hash }) => ({ chain, sequence, hash: hex(hash) })),
    signed_by: keyName(key.publicKey),
  };
  const signature = key.sign(signedBytes(checkpointHash(unsigned))).toString('base64');
  return { ...unsigned, signature, peaks: head.tree.peaks.map(hex) };
}

/** Appends a checkpoint to the log. Returns false if another process appended a checkpoint with this number first. */
export async function storeCheckpoint(log: EventLog, id: string, checkpoint: Checkpoint): Promise<boolean> {
  const event = systemEvent({
    id,
    type: checkpointType,
    version: checkpointVersion,
    tenantId: '',
    time: checkpoint.time,
    clear: checkpointClear(checkpoint),
  });
  const { outcome } = await log.append(checkpointStream, checkpoint.number - 2, [event]);
  return outcome === 'appended';
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
