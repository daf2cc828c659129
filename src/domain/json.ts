/** Any JSON value (RFC 8259). */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json };

/**
 * The maximum number of members in one object of a request or a token. Threat: listing the keys of an object with
 * hundreds of thousands of members is a single step that blocks the thread for half a second. An array needs no such
 * limit, because its items can be visited a few at a time.
 */
export const objectMembersMax = 20_000;

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Narrows a value to an array. `Array.isArray` widens readonly arrays to `any[]`, whereas this function keeps the
 * element type.
 */
export function isJsonArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
