import type { PageNumber } from '../commands/tokens/token-page.js';

/** Pages of every list (contract, section 2). */
export const pageLimits = { sizeMax: 100, default: { page: 1, size: 20 } satisfies PageNumber } as const;

export const pageMessages = {
  page: 'must be an integer from 1',
  size: `must be an integer from 1 to ${pageLimits.sizeMax}`,
} as const;
