/** Digits of the BIN: 6 of a number under 16 digits, else 8 (contract, section 5 `card_bin`). */
export function binLength(digitCount: number): number {
  return digitCount < 16 ? 6 : 8;
}

export function isDigit(character: string): boolean {
  return character.length === 1 && character >= '0' && character <= '9';
}

/** The same of a code point. */
export function isDigitCode(codePoint: number): boolean {
  return codePoint >= 0x30 && codePoint <= 0x39;
}

export function digitPositions(all: readonly string[]): number[] {
  const positions: number[] = [];
  for (const [i, one] of all.entries()) if (isDigit(one)) positions.push(i);
  return positions;
}
