import { defineConfig } from 'vitest/config';

/** Tests that need the servers of the cluster profile; their addresses are in the environment. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
