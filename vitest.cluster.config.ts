import { defineConfig } from 'vitest/config';

/** Tests that need the servers of the cluster profile, or long faults; `npm run test:cluster` runs them. */
export default defineConfig({
  test: {
    globalSetup: 'test/cluster/start-servers.ts',
    testTimeout: 180_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          exclude: ['test/cluster/faults/**'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Each has servers and processes of its own and measures how long things take: one after the other, and last.
        extends: true,
        test: {
          name: 'faults',
          include: ['test/cluster/faults/**/*.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
