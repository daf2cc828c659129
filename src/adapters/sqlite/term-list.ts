const termBytes = 16;

/** Terms in hex as the bytes that a row keeps, one after the other. */
export function packTerms(terms: readonly string[]): Buffer {
  return Buffer.from(terms.join(''), 'hex');
}

export function unpackTerms(packed: Buffer | null): string[] {
  const hex = packed?.toString('hex') ?? '';
  return Array.from({ length: hex.length / (2 * termBytes) }, (_, i) =>
    hex.slice(i * 2 * termBytes, (i + 1) * 2 * termBytes),
  );
}
