import { defineConfig } from 'vitest/config';

/** Tests of the cluster profile: they need the servers that STRONGROOM_TEST_MONGODB_URL and the like name. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
