import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../domain/json.js';
import type { ClearEvent } from '../event.js';
import { lengthPrefixed } from '../sealing/length-prefixed.js';
import { UnreadableEvent } from '../tokens/catalogue.js';

/** The stream of all checkpoints: checkpoint `n` is its event at revision `n` - 1. */
export const checkpointStream = 'audit-checkpoints';
export const checkpointType = 'audit.checkpoint';
/** The schema version that this program writes. */
export const checkpointVersion = 1;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);

/**
 * What a checkpoint signs: the log, and the hash of its chain at a position, after so many events; the checkpoint before,
 * and the ends of those chains of the access log that have grown since. `time` is ms since the epoch.
 */
export const checkpointSchema = z.object({
  log_id: z.string(),
  number: z.int().min(1),
  time: count,
  position: count,
  count,
  hash,
  /** Hash of the checkpoint before, its signature included; null in the first. */
  previous: hash.nullable(),
  access: z.array(z.object({ chain: z.string(), sequence: z.int().min(1), hash })),
  /** Which key signed it: the hash of the public one. */
  signed_by: hash,
  /** Ed25519 (RFC 8032) over `checkpointBytes`, base64. */
  signature: z.string(),
});

export type Checkpoint = z.output<typeof checkpointSchema>;

/** The bytes that are signed: every field but the signature, each with its length before it. */
export function checkpointBytes(checkpoint: Omit<Checkpoint, 'signature'>): Buffer {
  const { log_id, number, time, position, count: events, hash: head, previous, access, signed_by } = checkpoint;
  const numbers = [number, time, position, events].map(String);
  const chains = access.flatMap(({ chain, sequence, hash: end }) => [chain, String(sequence), end]);
  return lengthPrefixed(['strongroom.checkpoint.1', log_id, ...numbers, head, previous ?? '', signed_by, ...chains]);
}

/** What the next checkpoint names as the one before. */
export function checkpointHash(checkpoint: Checkpoint): string {
  return createHash('sha256').update(checkpointBytes(checkpoint)).update(checkpoint.signature).digest('hex');
}

/** The clear part of the event; its time is that of the event. */
export function checkpointClear({ time: _, ...clear }: Checkpoint): JsonObject {
  return clear;
}

/** The checkpoint that an event holds. Throws UnreadableEvent. */
export function readCheckpointEvent(event: ClearEvent): Checkpoint {
  if (event.version > checkpointVersion) throw new UnreadableEvent(event, 'was written by a newer Strongroom');
  const parsed = checkpointSchema.safeParse({ ...event.clear, time: event.time });
  if (!parsed.success || event.type !== checkpointType)
    throw new UnreadableEvent(event, 'is no checkpoint, or damaged');
  return parsed.data;
}

/** One line of JSON that holds all of a checkpoint: what an anchor gets. */
export function checkpointLine(checkpoint: Checkpoint): string {
  return JSON.stringify({ strongroom_checkpoint: checkpointVersion, ...checkpoint });
}
/** Reads such a line; null when it is none. */
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
