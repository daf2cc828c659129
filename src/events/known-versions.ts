import { checkpointVersion } from './audit/checkpoint.js';
import { directoryEventVersion } from './directory/catalogue.js';
import type { ClearEvent } from './event.js';
import { tokenEventVersion } from './tokens/catalogue.js';

/** The newest schema version that this program knows, by the first part of the type. */
const known: Readonly<Record<string, number>> = {
  ...{ token: tokenEventVersion, tenant: directoryEventVersion, application: directoryEventVersion },
  ...{ audit: checkpointVersion, log: 1 },
};

/** Whether this program can read an event by its version; of types that it does not know it knows none. */
export function isOfKnownVersion({ type, version }: Pick<ClearEvent, 'type' | 'version'>): boolean {
  return version <= (known[type.slice(0, type.indexOf('.'))] ?? 0);
}
