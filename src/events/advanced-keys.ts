import type { JsonObject } from '../domain/json.js';

/**
 * Returns the content keys that these events keep in use (`keeps`), each with the revision of the event. A row with one
 * of these keys is outdated if its revision is older. `before` is the revision of the stream before the events, from
 * which the function derives the revisions of events that have not been appended yet.
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
