import type { z } from 'zod';
import type { ClearEvent } from './event.js';

/**
 * Thrown for an event that this program cannot read. Either the event is damaged, or it has a newer version or an
 * unknown type. Unreadable events are never skipped.
 */
export class UnreadableEvent extends Error {
  readonly event: { readonly position: number; readonly type: string; readonly version: number };
  readonly reason: string;

  constructor({ position, type, version }: UnreadableEvent['event'], reason: string) {
    super(`event at position ${position} (${type}, version ${version}) ${reason}`);
    this.event = { position, type, version };
    this.reason = reason;
    this.name = 'UnreadableEvent';
  }
}

/**
 * Returns the plaintext part of a stored event, as the schema of its type describes it. `newestVersion` is the version
 * of the schemas. Throws UnreadableEvent if the event cannot be read.
 */
export function readClear(
  event: ClearEvent,
  schemas: Readonly<Record<string, z.ZodType>>,
  newestVersion: number,
): unknown {
  const { type, version, clear } = event;
  if (version > newestVersion) throw new UnreadableEvent(event, 'was written by a newer Strongroom');
  if (version < 1) throw new UnreadableEvent(event, 'has a version that never existed');
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  const parsed = schema?.safeParse(clear);
  if (parsed?.success !== true) throw new UnreadableEvent(event, 'is not in the catalog, or is damaged');
  return parsed.data;
}
