import { isJsonObject, type Json } from '../../json.js';

/**
 * Applies a JSON merge patch (RFC 7386, section 2). Objects are merged, null removes a key, and any other value
 * replaces the existing value. `target` is undefined if there is no value yet. The function changes neither argument.
 * The result may share parts with both arguments.
 *
 * Threat: a caller sends a key such as `__proto__` to change a prototype. This function therefore collects the keys in
 * a Map and turns them into own properties. It never reads or assigns a key through a prototype.
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged = new Map<string, Json>(isJsonObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
