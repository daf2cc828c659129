/** The eight token types. See docs/contract.md, "Token types". */
export const tokenTypes = [
  'token',
  'card',
  'bank',
  'card_number',
  'us_bank_account_number',
  'us_bank_routing_number',
  'social_security_number',
  'employer_id_number',
] as const;

export type TokenType = (typeof tokenTypes)[number];
