import { grouped } from '../domain/text.js';

/**
 * Returns the text with the page number and the number of pages, for the line below a list. Returns an empty string if
 * the list has only one page.
 */
export function pageText(page: number, pages: number): string {
  return pages > 1 ? `, page ${grouped(page)} of ${grouped(pages)}` : '';
}
