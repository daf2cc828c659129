/**
 * The transforms, which determine how much of a token's data a caller sees. The strictest transform comes first. See
 * docs/contract.md, "Transforms".
 */
export const transforms = ['redact', 'mask', 'reveal'] as const;

export type Transform = (typeof transforms)[number];

/** Returns a number that ranks transforms by how much they show: null (no access) < redact < mask < reveal. */
export function openness(transform: Transform | null): number {
  return transform === null ? -1 : transforms.indexOf(transform);
}

/** Returns the stricter transform. Null (no access) is the strictest. */
export function strictest<T extends Transform | null>(one: T, other: T): T {
  return openness(one) <= openness(other) ? one : other;
}
