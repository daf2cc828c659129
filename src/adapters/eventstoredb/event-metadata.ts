import type { JsonObject } from '../../domain/json.js';

/**
 * Metadata of an event in EventStoreDB: the event without its boxes. `strongroom` is the version of this form, and what
 * tells our events from those of anybody else who uses the same server.
 */
export type EventMetadata = {
  readonly strongroom: 1;
  readonly version: number;
  readonly tenant: string;
  readonly actor: string;
  readonly time: number;
  readonly cmd: string | null;
  readonly clear: JsonObject;
};

/** Null: the event is not ours. Throws for an event of ours in a form that this version does not know. */
export function ourMetadata(metadata: unknown): EventMetadata | null {
  if (typeof metadata !== 'object' || metadata === null || !('strongroom' in metadata)) return null;
  if (metadata.strongroom !== 1) throw new Error('an event in EventStoreDB has an unknown format');
  return metadata as EventMetadata;
}
