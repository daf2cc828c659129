import { grouped } from '../domain/text.js';

/**
 * Returns the text that is appended to the line below a list, such as `, page 2 of 3`. Returns an empty string if the
 * list has only one page.
 */
export function pageText(page: number, pages: number): string {
  return pages > 1 ? `, page ${grouped(page)} of ${grouped(pages)}` : '';
}
