import type { JsonObject } from '../../domain/json.js';

/**
 * The metadata of an event in EventStoreDB. It contains the event's plaintext fields and its proof. The bytes in the
 * proof are encoded in base64url. `strongroom` is the format version. This field also distinguishes the vault's events
 * from events that other programs store on the same server.
 */
export type EventMetadata = {
  readonly strongroom: 2;
  readonly version: number;
  readonly tenant: string;
  readonly actor: string;
  readonly time: number;
  readonly cmd: string | null;
  readonly clear: JsonObject;
  readonly first: number;
  readonly digests: string | null;
  readonly sealed: string;
  readonly mac: string;
};

/**
 * Returns an event's metadata, or null if the event is not from the vault. Throws if the event is from the vault but
 * has an unknown format.
 */
export function ourMetadata(metadata: unknown): EventMetadata | null {
  if (typeof metadata !== 'object' || metadata === null || !('strongroom' in metadata)) return null;
  if (metadata.strongroom !== 2) throw new Error('an event in EventStoreDB has an unknown format');
  if (!hasProof(metadata)) throw new Error('an event in EventStoreDB has an unknown format');
  return metadata as EventMetadata;
}

function hasProof(metadata: object): boolean {
  const { first, digests, sealed, mac } = metadata as Readonly<Record<string, unknown>>;
  const isText = (value: unknown) => typeof value === 'string';
  return typeof first === 'number' && isText(sealed) && isText(mac) && (digests === null || isText(digests));
}
