import type { Json } from '../json.js';

/** `Array.isArray` widens readonly arrays to `any[]`; this keeps the element type. */
export function isJsonArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
