import type { JsonObject } from '../domain/json.js';

/** Returns the ids of the keys that an event names for its content and its cvc. */
export function namedKeys({ clear }: { readonly clear: JsonObject }): readonly string[] {
  return [clear['key'], clear['cvc_key']].filter((keyId) => typeof keyId === 'string');
}

/** Returns the keys that these events mark for destruction, each with the id of the event. */
export function endedKeys(
  events: readonly { readonly id: string; readonly clear: JsonObject }[],
): readonly { readonly keyId: string; readonly eventId: string }[] {
  return events.flatMap(({ id, clear }) => {
    const { ends = [] } = clear as { readonly ends?: readonly string[] };
    return ends.map((keyId) => ({ keyId, eventId: id }));
  });
}

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
