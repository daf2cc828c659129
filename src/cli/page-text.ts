import { grouped } from '../domain/text.js';

/**
 * Returns the line to show below a list, with the page number and the number of pages. Returns an empty string if the
 * list has only one page.
 */
export function pageText(page: number, pages: number): string {
  return pages > 1 ? `, page ${grouped(page)} of ${grouped(pages)}` : '';
}
