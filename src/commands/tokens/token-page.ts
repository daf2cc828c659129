import type { TokenAnswer } from './token-answer.js';

/** Which page of a list; contract, section 2. */
export type PageNumber = { readonly page: number; readonly size: number };

export type TokenPage = { readonly tokens: readonly TokenAnswer[]; readonly total: number } & PageNumber;
