import { type Checked, invalid, valid } from '../../field-errors.js';
import { isJsonObject, type Json, objectMembersMax } from '../../json.js';
import { memberPath } from '../../json-path.js';

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

/**
 * Rejects a merge patch whose result has an object with more members than a request may contain. Only objects that the
 * patch names can grow, so this function visits no others. The error is reported at the path of the object, which
 * begins with `path`. See docs/contract.md, "Request bodies".
 */
export function checkGrowth(merged: Json, patch: Json, path: string): Checked<null> {
  if (!isJsonObject(merged) || !isJsonObject(patch)) return valid(null);
  if (Object.keys(merged).length > objectMembersMax) {
    return invalid(path, `must have at most ${objectMembersMax} members`);
  }
  for (const [key, value] of Object.entries(patch)) {
    if (!isJsonObject(value)) continue;
    const grown = checkGrowth(merged[key] ?? null, value, memberPath(path, key));
    if (!grown.ok) return grown;
  }
  return valid(null);
}
