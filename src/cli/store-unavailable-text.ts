import type { StoreUnavailable } from '../ports/store-unavailable.js';

/** What a person can do about a store that cannot do its work now. */
export function storeUnavailableText({ store, reason }: StoreUnavailable): string {
  if (reason === 'full') return `the disk under ${store} is full. Free some space, then try again.`;
  return `${store} is unavailable (${reason}). Try again in a moment.`;
}
