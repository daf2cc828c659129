import type { TokenType } from '../token-type.js';
import { bank } from './bank.js';
import { card } from './card.js';
import { cardNumber } from './card-number.js';
import { genericToken } from './generic-token.js';
import { taxNumber } from './tax-number.js';
import type { TypeRule } from './type-rule.js';
import { usBankAccountNumber } from './us-bank-account-number.js';
import { usBankRoutingNumber } from './us-bank-routing-number.js';

/** The rule of every token type. Contract, section 3 "Types". */
export const typeRules: Readonly<Record<TokenType, TypeRule>> = {
  token: genericToken,
  card,
  bank,
  card_number: cardNumber,
  us_bank_account_number: usBankAccountNumber,
  us_bank_routing_number: usBankRoutingNumber,
  social_security_number: taxNumber,
  employer_id_number: taxNumber,
};
