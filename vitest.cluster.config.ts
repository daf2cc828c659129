import { defineConfig } from 'vitest/config';

const shared = {
  ...{ testTimeout: 180_000, hookTimeout: 60_000 },
  // Shows the content of a list of problems instead of its length.
  chaiConfig: { truncateThreshold: 0 },
};

/**
 * `npm run test:cluster` runs the tests that need the servers of the cluster profile, long fault tests, and the suites
 * of the service, which `npm test` runs on the embedded profile, on the cluster profile.
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
          // Otherwise each file would load the clients of three servers again.
          isolate: false,
          include: [
            'test/{http,jobs,commands,projections,queries,search,audit,console}/**/*.test.ts',
            'test/clients/{typescript,python}/round-trip.test.ts',
            'test/rebuild/under-load.test.ts',
            'test/cluster/rebuild/**/*.test.ts',
          ],
          // These parts of the program use no stores, so `npm test` covers them for both profiles.
          exclude: [
            'test/audit/access-log/**',
            'test/http/body/**',
            'test/search/{query,terms}/**',
            'test/commands/*.test.ts',
            'test/console/{browser,pure}/**',
          ],
          env: { STRONGROOM_TEST_PROFILE: 'cluster' },
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Each of these has its own servers and processes and measures durations, so they run one after the other, and
        // last.
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
