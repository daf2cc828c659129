/**
 * A text as search compares it: Unicode NFKC, then case folding by character, so that the fold of a letter does not
 * depend on its neighbours (a Greek sigma at the end of a word). Both run twice, because folding can produce what NFKC
 * changes again. See docs/contract.md, "Comparison".
 */
export function normalise(text: string): string {
  return isPlain.test(text) ? text.toLowerCase() : foldOnce(foldOnce(text)).normalize('NFKC');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with the controls
const isPlain = /^[\x00-\x7f]*$/;
/** Dotless i folds to itself, not to the i that its capital would give. */
const dotlessI = 'ı';

/**
 * Folds whole texts instead of single characters: NFKC turns one character into up to 18, and 50 metadata values of
 * 1,000 such characters took a third of a second. The capital sigma is the only character whose lower case depends on
 * its neighbours.
 */
function foldOnce(text: string): string {
  return text.normalize('NFKC').split(dotlessI).map(fold).join(dotlessI);
}

function fold(text: string): string {
  return text.toLowerCase().toUpperCase().replaceAll('Σ', 'σ').toLowerCase();
}
