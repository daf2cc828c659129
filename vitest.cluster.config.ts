import { defineConfig } from 'vitest/config';

/** Tests that need the servers of the cluster profile, or long faults; `npm run test:cluster` runs them. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    globalSetup: 'test/cluster/start-servers.ts',
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
