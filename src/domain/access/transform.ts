/** What a caller gets back of a token's data, strictest first. See docs/contract.md, "Transforms". */
export const transforms = ['redact', 'mask', 'reveal'] as const;

export type Transform = (typeof transforms)[number];

/** How much is shown: none (null) < redact < mask < reveal. */
export function openness(transform: Transform | null): number {
  return transform === null ? -1 : transforms.indexOf(transform);
}

/** The one that shows less; null (nothing granted) is stricter than all. */
export function strictest<T extends Transform | null>(one: T, other: T): T {
  return openness(one) <= openness(other) ? one : other;
}
