import { defineConfig } from 'vitest/config';

/** `npm run test:clients` runs the tests of the Python client. They need Python, which `npm test` does not. */
export default defineConfig({
  test: {
    include: ['test/clients/python/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Shows the content of a list of problems instead of its length.
    chaiConfig: { truncateThreshold: 0 },
  },
});
