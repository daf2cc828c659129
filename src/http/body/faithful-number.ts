/** So many significant digits survive in every double that is not tiny; the literal's other characters only help. */
const certainLength = 15;
const tiny = 1e-300;
/** From here on JSON writes a whole number with an exponent. */
const exponentFrom = 1e21;

/**
 * Whether a JSON number literal is given back with the digits it was written with, so that keeping it as a double loses
 * nothing. A literal without fraction and exponent must be a whole number within ±(2^53 - 1), like the neighbours it
 * would be mistaken for. Any other one must be finite and have the digits of the shortest form of its double, zeros at
 * the ends aside (8.50 is 8.5), and must not come back as a whole number that would be refused (1e16).
 */
export function isFaithfulNumber(literal: string): boolean {
  const isShort = literal.length <= certainLength;
  const exponentAt = literal.search(/[eE]/);
  if (exponentAt === -1 && isShort) return true;
  const value = Number(literal);
  if (exponentAt === -1 && !literal.includes('.')) return Number.isSafeInteger(value);
  const size = Math.abs(value);
  if (size === Number.POSITIVE_INFINITY || (size > Number.MAX_SAFE_INTEGER && size < exponentFrom)) return false;
  if (isShort && size > tiny) return true;
  const mantissa = exponentAt === -1 ? literal : literal.slice(0, exponentAt);
  const [shortest = ''] = value.toExponential().split('e');
  return significantDigits(mantissa) === significantDigits(shortest);
}

/** Loops, because a pattern for zeros at the end takes quadratic time on many zeros before another digit. */
function significantDigits(mantissa: string): string {
  const digits = mantissa.replace('-', '').replace('.', '');
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1;
  return digits.slice(start, end);
}
