import type { Writer } from './writer.js';

/** A writer for stores that are only read. */
export const writesNothing: Writer = {
  request: async () => {
    throw new Error('this store must not be written to');
  },
  notice: null,
  close: async () => undefined,
};
