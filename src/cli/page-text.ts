import { grouped } from '../domain/text.js';

/** Returns which page of a list this is, for the line below it; nothing if it is the only one. */
export function pageText(page: number, pages: number): string {
  return pages > 1 ? `, page ${grouped(page)} of ${grouped(pages)}` : '';
}
