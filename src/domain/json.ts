/** Any JSON value (RFC 8259). */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json };

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
