import { defineConfig } from 'vitest/config';

const shared = {
  ...{ testTimeout: 180_000, hookTimeout: 60_000 },
  // A list of what is wrong is shown, not its length.
  chaiConfig: { truncateThreshold: 0 },
};

/**
 * `npm run test:cluster`: what needs the servers of the cluster profile; the suites of the service, which `npm test` runs on
 * the embedded profile, on the cluster profile; and long faults.
 */
export default defineConfig({
  test: {
    globalSetup: 'test/cluster/start-servers.ts',
    projects: [
      {
        test: {
          ...shared,
          name: 'servers',
          include: ['test/cluster/**/*.test.ts'],
          exclude: ['test/cluster/faults/**', 'test/cluster/rebuild/**'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'cluster',
          // Each file would load the clients of three servers again.
          isolate: false,
          include: [
            'test/{http,jobs,commands,search,audit}/**/*.test.ts',
            'test/rebuild/under-load.test.ts',
            'test/cluster/rebuild/**/*.test.ts',
          ],
          // Parts of the program without stores, which `npm test` runs for both.
          exclude: ['test/http/body/**', 'test/search/{query,terms}/**', 'test/commands/*.test.ts'],
          env: { STRONGROOM_TEST_PROFILE: 'cluster' },
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Each has servers and processes of its own and measures how long things take: one after the other, and last.
        test: {
          ...shared,
          name: 'faults',
          include: ['test/cluster/faults/**/*.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
