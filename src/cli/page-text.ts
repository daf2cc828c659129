import { grouped } from '../domain/text.js';

/** Returns the page number and page count for the line below a list, or an empty string if there is only one page. */
export function pageText(page: number, pages: number): string {
  return pages > 1 ? `, page ${grouped(page)} of ${grouped(pages)}` : '';
}
