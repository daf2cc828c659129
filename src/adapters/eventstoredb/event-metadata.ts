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

/** Returns true if an event has the mark of the vault. The rest of the metadata may be malformed. */
export function hasMark(metadata: unknown): metadata is object {
  return typeof metadata === 'object' && metadata !== null && 'strongroom' in metadata;
}

/** Returns the metadata of an event from the vault, or null if the metadata has an unknown format. */
export function readMetadata(metadata: unknown): EventMetadata | null {
  if (!hasMark(metadata)) return null;
  const { strongroom, version, tenant, actor, time, cmd, clear, first, digests, sealed, mac } = metadata as Readonly<
    Record<string, unknown>
  >;
  const areNumbers = [version, time, first].every((value) => typeof value === 'number');
  const areTexts = [tenant, actor, sealed, mac].every(isText);
  const isKnown =
    strongroom === 2 && areNumbers && areTexts && isTextOrNull(cmd) && isTextOrNull(digests) && isObject(clear);
  return isKnown ? (metadata as EventMetadata) : null;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
