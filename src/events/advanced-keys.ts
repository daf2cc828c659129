import type { JsonObject } from '../domain/json.js';

/**
 * Returns the content keys that these events continue to use (`keeps`), each with the revision of its event. A row that
 * has such a key but an older revision is outdated. `before` is the revision of the stream before the events. It
 * determines the revisions of events that have not been appended yet.
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
