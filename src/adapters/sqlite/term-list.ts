const termBytes = 16;

/** Terms in hex as the bytes that a row keeps, one after the other. */
export function packTerms(terms: readonly string[]): Buffer {
  return Buffer.from(terms.join(''), 'hex');
}

/** Each term as the bytes of its posting. */
export function unpackTerms(packed: Buffer | null): readonly Buffer[] {
  if (packed === null) return [];
  return Array.from({ length: packed.length / termBytes }, (_, i) =>
    packed.subarray(i * termBytes, (i + 1) * termBytes),
  );
}
