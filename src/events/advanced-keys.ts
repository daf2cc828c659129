import type { JsonObject } from '../domain/json.js';

/**
 * Returns the content keys that these events keep (`keeps`), each with the revision of its event. If a row has such a
 * key and an older revision, the row is outdated. `before` is the revision of the stream before the events. The
 * revisions of events that have not been appended yet are computed from it.
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
