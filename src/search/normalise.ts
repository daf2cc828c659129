/**
 * Returns text in the form that search compares. First normalizes the text to Unicode NFKC, and then folds the case of
 * each character. The result for a letter (such as a Greek sigma at the end of a word) does not depend on the
 * neighboring letters. Both steps run twice, because NFKC may change folded text again. See docs/contract.md,
 * "Comparison".
 */
export function normalise(text: string): string {
  return isPlain.test(text) ? text.toLowerCase() : foldOnce(foldOnce(text)).normalize('NFKC');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with the controls
const isPlain = /^[\x00-\x7f]*$/;
/**
 * The dotless i folds to itself. Without this exception, converting it to upper case and back to lower case would turn
 * it into an ordinary i.
 */
const dotlessI = 'ı';

/**
 * Folds whole strings instead of single characters, because that is faster. NFKC turns one character into up to 18
 * characters. With 50 metadata values of 1,000 such characters each, folding every character separately took a third of
 * a second. The capital sigma is the only character whose lower case depends on the characters around it.
 */
function foldOnce(text: string): string {
  return text.normalize('NFKC').split(dotlessI).map(fold).join(dotlessI);
}

function fold(text: string): string {
  return text.toLowerCase().toUpperCase().replaceAll('Σ', 'σ').toLowerCase();
}
