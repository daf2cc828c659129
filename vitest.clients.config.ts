import { defineConfig } from 'vitest/config';

/**
 * The configuration for `npm run test:clients`, which runs the tests of the Python client. These tests need Python. The
 * tests of `npm test` do not.
 */
export default defineConfig({
  test: {
    include: ['test/clients/python/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    // A failed comparison shows the whole content of a list, instead of its length.
    chaiConfig: { truncateThreshold: 0 },
  },
});
