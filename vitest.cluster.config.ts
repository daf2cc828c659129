import { defineConfig } from 'vitest/config';

const shared = {
  testTimeout: 180_000,
  hookTimeout: 60_000,
  // With isolation, each test file would load the clients of three servers again.
  isolate: false,
  // As in vitest.config.ts.
  expect: { poll: { timeout: 30_000 } },
  // A failed comparison shows the whole content of a list, instead of its length.
  chaiConfig: { truncateThreshold: 0 },
};

/**
 * The configuration for `npm run test:cluster`. It runs the tests that need the servers of the cluster profile, and
 * long fault tests. It also runs the suites of `npm test` that depend on the stores, this time on the cluster profile.
 */
export default defineConfig({
  test: {
    globalSetup: ['test/cluster/start-servers.ts', 'test/support/run-folder.ts'],
    maxWorkers: 2,
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
          include: [
            'test/{http,jobs,commands,projections,queries,search,audit,console}/**/*.test.ts',
            'test/clients/{typescript,python}/round-trip.test.ts',
            'test/rebuild/under-load.test.ts',
            'test/cluster/rebuild/**/*.test.ts',
          ],
          // These parts of the program do not use the stores, so `npm test` covers them for both profiles.
          exclude: [
            'test/audit/access-log/**',
            'test/http/body/**',
            'test/http/load/{aborted-requests,descriptors,shares,slow-clients,unread-responses}.test.ts',
            'test/http/logging/**',
            'test/http/openapi/{checker,lint}.test.ts',
            'test/search/{query,terms}/**',
            'test/commands/*.test.ts',
            'test/console/{browser,pure}/**',
          ],
          env: { STRONGROOM_TEST_PROFILE: 'cluster' },
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Each of these tests starts separate servers and processes, and checks how long recovery takes. They therefore
        // run last. Much of their time is waiting, so three of them run at the same time on two processors.
        test: {
          ...shared,
          name: 'faults',
          include: ['test/cluster/faults/**/*.test.ts'],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
