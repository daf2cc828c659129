import { defineConfig } from 'vitest/config';

const shared = { testTimeout: 180_000, hookTimeout: 60_000 };

/**
 * `npm run test:cluster`: what needs the servers of the cluster profile, or long faults; and the suites of the service, which
 * `npm test` runs on the embedded profile, on the cluster profile.
 */
export default defineConfig({
  test: {
    globalSetup: 'test/cluster/start-servers.ts',
    projects: [
      { test: { ...shared, name: 'servers', include: ['test/cluster/**/*.test.ts'] } },
      {
        test: {
          ...shared,
          name: 'cluster',
          // Each file would load the clients of three servers again.
          isolate: false,
          include: ['test/{http,jobs,commands,search}/**/*.test.ts'],
          // Parts of the program without stores, which `npm test` runs for both.
          exclude: ['test/http/body/**', 'test/search/{query,terms}/**'],
          env: { STRONGROOM_TEST_PROFILE: 'cluster' },
        },
      },
    ],
  },
});
