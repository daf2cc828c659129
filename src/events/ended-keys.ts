import type { JsonObject } from '../domain/json.js';

/** Returns the keys that these events mark for destruction, each with the id of the event. */
export function endedKeys(
  events: readonly { readonly id: string; readonly clear: JsonObject }[],
): readonly { readonly keyId: string; readonly eventId: string }[] {
  return events.flatMap(({ id, clear }) => {
    const { ends = [] } = clear as { readonly ends?: readonly string[] };
    return ends.map((keyId) => ({ keyId, eventId: id }));
  });
}
