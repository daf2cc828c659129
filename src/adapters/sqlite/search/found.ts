export type Wanted = { readonly offset: number; readonly limit: number };

/** The result of a search: the number of tokens, and the `seq` of those on the page, newest first. */
export type Found = { readonly total: number; readonly page: readonly number[] };

export const foundNothing: Found = { total: 0, page: [] };
