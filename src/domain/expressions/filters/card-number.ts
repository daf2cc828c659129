/** Digits of the BIN: 6 of a number under 16 digits, else 8 (contract, section 5 `card_bin`). */
export function binLength(digitCount: number): number {
  return digitCount < 16 ? 6 : 8;
}

export function isDigit(character: string): boolean {
  return character.length === 1 && character >= '0' && character <= '9';
}

/** Whether these digits pass the Luhn check (ISO/IEC 7812-1, annex B). */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const doubled = digit * 2;
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
