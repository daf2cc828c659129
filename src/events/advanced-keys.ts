import type { JsonObject } from '../domain/json.js';

/**
 * The keys that tokens keep through a change of them, each with the revision of the event: from then on no row is current
 * that names the key and is older. `before`: the revision that the events follow, where they have none of their own yet.
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
