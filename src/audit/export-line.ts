import { z } from 'zod';
import type { JsonObject } from '../domain/json.js';
import { type EventProof, type StoredEvent, sealedHash } from '../events/commit.js';
import type { ClearEvent } from '../events/event.js';

/** The version of the export format. */
export const exportVersion = 2;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const bytesText = z.base64().nullable();
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
  /**
   * `first` is the revision of the first event in the event's commit. `digests` contains the digests of all events in
   * the commit. If the commit has only one event, `digests` is null.
   */
  first: whole,
  digests: bytesText,
  trace: bytesText,
  content: bytesText,
  cvc: bytesText,
});

/**
 * One position in the log. A line contains the event at this position and, if the event ends a commit, the link that is
 * stored for the commit. Some stores keep links separately from events. If one of the two was removed, the line
 * contains only the other. If there is no link, `count` is null too.
 */
export const exportLine = z.object({
  position: whole,
  count: whole.nullable(),
  link: hash.nullable(),
  event: eventSchema.nullable(),
});

/** A line of an export, with ciphertexts in base64 and the link in hex. */
export type ExportLine = z.output<typeof exportLine>;

/** An export line for verification. It contains a hash of the event's ciphertexts instead of the ciphertexts. */
export type ChainedEvent = {
  readonly position: number;
  readonly count: number | null;
  readonly link: string | null;
  readonly event: (ClearEvent & { readonly proof: Omit<EventProof, 'mac'> }) | null;
};

export function exportedEvent(event: StoredEvent): NonNullable<ExportLine['event']> {
  const { stream, revision, id, type, version, tenantId, actorId, time, cmd, clear, trace, sealed, proof } = event;
  return {
    stream,
    revision,
    id,
    type,
    version,
    tenant: tenantId,
    actor: actorId,
    time,
    cmd,
    clear,
    first: proof.first,
    digests: base64(proof.digests),
    trace: base64(trace),
    content: base64(sealed.content),
    cvc: base64(sealed.cvc),
  };
}

export function chainedEvent({ event, ...place }: ExportLine): ChainedEvent {
  if (event === null) return { ...place, event };
  const { tenant: tenantId, actor: actorId, first, digests, trace, content, cvc, ...clear } = event;
  const sealed = { content: bytes(content), cvc: bytes(cvc) };
  const proof = { first, digests: bytes(digests), sealedHash: sealedHash({ trace: bytes(trace), sealed }) };
  return { ...place, event: { ...clear, tenantId, actorId, position: place.position, proof } };
}

function base64(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function bytes(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text, 'base64');
}
