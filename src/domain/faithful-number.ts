/**
 * Every double except very small ones preserves this many significant digits. A literal of at most this length cannot
 * contain more digits.
 */
const certainLength = 15;
const tiny = 1e-300;
/** `JSON.stringify` writes whole numbers of at least this size with an exponent. */
const exponentFrom = 1e21;

/**
 * Returns true if a double preserves all digits of a number literal in JSON or in an expression. A literal without a
 * fraction or exponent must be within ±(2^53 - 1).
 *
 * Any other literal must be finite and have the same digits as the shortest form of its double. Leading and trailing
 * zeros are ignored (8.50 equals 8.5). If its double is a whole number outside the range above, `JSON.stringify` must
 * write that number with an exponent. For example, 1e16 is not allowed, because `JSON.stringify` writes it as
 * 10000000000000000. The vault would reject this literal if the client sent it back.
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

/**
 * Returns the digits of a mantissa without leading and trailing zeros. Uses loops, because a regular expression for
 * trailing zeros takes quadratic time if a digit follows many zeros.
 */
function significantDigits(mantissa: string): string {
  const digits = mantissa.replaceAll(/[-+.]/g, '');
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1;
  return digits.slice(start, end);
}
