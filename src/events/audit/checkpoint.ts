import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../domain/json.js';
import type { ClearEvent, EventType } from '../event.js';
import { UnreadableEvent } from '../read-clear.js';
import { lengthPrefixed } from '../sealing/length-prefixed.js';
import { hasItsPeaks, type MerkleTree, treeRoot } from './merkle.js';

/** The stream of all checkpoints. Checkpoint `n` is the event at revision `n` - 1. */
export const checkpointStream = 'audit-checkpoints';
export const checkpointType = 'audit.checkpoint' satisfies EventType;
/** The schema version written by this program. */
export const checkpointVersion = 2;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);

/**
 * The content of a checkpoint. Its signature covers the newest hash in the log's chain and the root of the Merkle tree
 * over the commits, and therefore the whole log up to `position`. The signature also covers the previous checkpoint,
 * and the end of each access log chain that has grown since the previous checkpoint. `time` is in ms since the epoch.
 */
export const checkpointSchema = z.object({
  log_id: z.string(),
  number: z.int().min(1),
  time: count,
  /** The number of the newest hourly checkpoint. It may be the number of this checkpoint. */
  hourly: z.int().min(1),
  /** How many of the checkpoints up to and including this one are hourly. */
  hours: z.int().min(1),
  position: count,
  /** The number of commits in the chain, and thus the size of the tree. */
  count,
  hash,
  root: hash,
  /** The `checkpointHash` of the previous checkpoint. Null in the first checkpoint. */
  previous: hash.nullable(),
  access: z.array(z.object({ chain: z.string(), sequence: z.int().min(1), hash })),
  /** The hash of the public key that verifies the signature. */
  signed_by: hash,
  /** The Ed25519 signature (RFC 8032) over `signedBytes`, in base64. */
  signature: z.string(),
  /**
   * The peaks of the tree. The next checkpoint adds leaves to them. They are not signed, but the root that is computed
   * from them must equal `root`.
   */
  peaks: z.array(hash),
});

export type Checkpoint = z.output<typeof checkpointSchema>;
type Signed = Omit<Checkpoint, 'signature' | 'peaks'>;

/**
 * Returns the SHA-256 hash over every signed field, in hex. Each field is preceded by its length. The signature covers
 * this hash, and the next checkpoint contains it.
 */
export function checkpointHash(checkpoint: Signed): string {
  const { log_id, number, time, hourly, hours, position, count: commits, hash: head, root, previous } = checkpoint;
  const numbers = [number, time, hourly, hours, position, commits].map(String);
  const chains = checkpoint.access.flatMap(({ chain, sequence, hash: end }) => [chain, String(sequence), end]);
  const names = [head, root, previous ?? '', checkpoint.signed_by];
  return createHash('sha256')
    .update(lengthPrefixed(['strongroom.checkpoint.2', log_id, ...numbers, ...names, ...chains]))
    .digest('hex');
}

/**
 * Returns the bytes to sign. Apart from the hash, they contain nothing that varies, so the hash is enough to verify the
 * signature.
 */
export function signedBytes(hashOfCheckpoint: string): Buffer {
  return lengthPrefixed(['strongroom.checkpoint.2.signature', hashOfCheckpoint]);
}

/** Returns what the key store records about a checkpoint, so that the vault can recognize the checkpoint later. */
export function rememberedOf(checkpoint: Checkpoint) {
  const { number, signature } = checkpoint;
  return { number, hash: checkpointHash(checkpoint), signature };
}

/** Returns the Merkle tree covered by a checkpoint. */
export function treeOf({ count: size, peaks }: Pick<Checkpoint, 'count' | 'peaks'>): MerkleTree {
  return { size, peaks: peaks.map((peak) => Buffer.from(peak, 'hex')) };
}

/** Returns the plaintext part of a checkpoint's event. The time is omitted, because the event stores it separately. */
export function checkpointClear({ time: _, ...clear }: Checkpoint): JsonObject {
  return clear;
}

/** Returns the checkpoint in an event. Throws UnreadableEvent if the event does not contain a valid checkpoint. */
export function readCheckpointEvent(event: ClearEvent): Checkpoint {
  if (event.version > checkpointVersion) throw new UnreadableEvent(event, 'was written by a newer Strongroom');
  const parsed = checkpointSchema.safeParse({ ...event.clear, time: event.time });
  if (!parsed.success || event.type !== checkpointType || !hasItsTree(parsed.data)) {
    throw new UnreadableEvent(event, 'is not a checkpoint, or is damaged');
  }
  return parsed.data;
}

/** Returns a checkpoint as one line of JSON, for an anchor. */
export function checkpointLine(checkpoint: Checkpoint): string {
  return JSON.stringify({ strongroom_checkpoint: checkpointVersion, ...checkpoint });
}
/** Parses a line returned by `checkpointLine`. Returns null for any other text. */
export function readCheckpointLine(line: string): Checkpoint | null {
  try {
    const parsed = z
      .object({ strongroom_checkpoint: z.literal(checkpointVersion), ...checkpointSchema.shape })
      .safeParse(JSON.parse(line));
    return parsed.success ? checkpointSchema.parse(parsed.data) : null;
  } catch {
    return null;
  }
}

function hasItsTree(checkpoint: Checkpoint): boolean {
  const tree = treeOf(checkpoint);
  return hasItsPeaks(tree) && Buffer.from(treeRoot(tree)).toString('hex') === checkpoint.root;
}
