import { z } from 'zod';
import type { JsonObject } from '../domain/json.js';
import type { RecordedEvent } from '../events/event.js';

/** The version of the form of an export. */
export const exportVersion = 1;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const box = z.base64().nullable();
const whole = z.int().min(0);

const eventSchema = z.object({
  stream: z.string(),
  revision: whole,
  id: z.string(),
  type: z.string(),
  version: z.int(),
  tenant: z.string(),
  actor: z.string(),
  time: z.number(),
  cmd: z.string().nullable(),
  clear: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
  trace: box,
  content: box,
  cvc: box,
});

/**
 * One place in the log: the event that lies there and the link that is stored for it. One of the two can be missing, and
 * `count` with the link: in a store of links apart from the log, or because somebody removed it.
 */
export const exportLine = z.object({
  position: whole,
  count: whole.nullable(),
  link: hash.nullable(),
  event: eventSchema.nullable(),
});

/** As it lies in an export: boxes in base64, the link in hex. */
export type ExportLine = z.output<typeof exportLine>;

/** The same with its boxes as bytes. */
export type ChainedEvent = {
  readonly position: number;
  readonly count: number | null;
  readonly link: string | null;
  readonly event: RecordedEvent | null;
};

export function exportedEvent(event: RecordedEvent): NonNullable<ExportLine['event']> {
  const { stream, revision, id, type, version, tenantId, actorId, time, cmd, clear, trace, sealed } = event;
  return {
    ...{ stream, revision, id, type, version, tenant: tenantId, actor: actorId, time, cmd, clear },
    ...{ trace: base64(trace), content: base64(sealed.content), cvc: base64(sealed.cvc) },
  };
}

export function chainedEvent({ event, ...place }: ExportLine): ChainedEvent {
  if (event === null) return { ...place, event };
  const { tenant: tenantId, actor: actorId, trace, content, cvc, ...clear } = event;
  const sealed = { content: bytes(content), cvc: bytes(cvc) };
  return { ...place, event: { ...clear, tenantId, actorId, position: place.position, trace: bytes(trace), sealed } };
}

function base64(box: Uint8Array | null): string | null {
  return box === null ? null : Buffer.from(box.buffer, box.byteOffset, box.byteLength).toString('base64');
}

function bytes(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text, 'base64');
}
