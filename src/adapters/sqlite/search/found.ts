export type Wanted = { readonly offset: number; readonly limit: number };

/**
 * The result of a search: the total number of tokens found, and the `seq` values of the tokens on the page, newest
 * first.
 */
export type Found = { readonly total: number; readonly page: readonly number[] };

export const foundNothing: Found = { total: 0, page: [] };
