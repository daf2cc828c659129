/**
 * A text as search compares it: Unicode NFKC, then case folding by character, so that the fold of a letter does not
 * depend on its neighbours (a Greek sigma at the end of a word). Twice, because a fold can give what NFKC changes
 * again. Contract, section 7.
 */
export function normalise(text: string): string {
  return isPlain.test(text) ? text.toLowerCase() : foldOnce(foldOnce(text)).normalize('NFKC');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with the controls
const isPlain = /^[\x00-\x7f]*$/;
/** Dotless i folds to itself, not to the i that its capital would give. */
const dotlessI = 'ı';

function foldOnce(text: string): string {
  return Array.from(text.normalize('NFKC'), fold).join('');
}

function fold(character: string): string {
  return character === dotlessI ? character : character.toLowerCase().toUpperCase().toLowerCase();
}
