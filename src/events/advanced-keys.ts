import type { JsonObject } from '../domain/json.js';

/**
 * Returns the keys that tokens keep when these events change them, each with the revision of the event. A row with such
 * a key and an older revision is outdated. `before` is the revision just before the events. It determines the revisions
 * of events that have none yet.
 */
export function advancedKeys(
  events: readonly { readonly clear: JsonObject; readonly revision?: number }[],
  before = -1,
): readonly { readonly keyId: string; readonly revision: number }[] {
  return events.flatMap(({ clear, revision }, index) => {
    const keyId = clear['keeps'];
    return typeof keyId === 'string' ? [{ keyId, revision: revision ?? before + 1 + index }] : [];
  });
}
