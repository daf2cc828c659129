import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // These need servers, or helm and Prometheus: vitest.cluster.config.ts, vitest.kubernetes.config.ts.
    exclude: [...configDefaults.exclude, 'test/cluster/**', 'test/kubernetes/**'],
    globalSetup: 'test/support/say-what-needs-servers.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Shows the content of a list of problems instead of its length.
    chaiConfig: { truncateThreshold: 0 },
  },
});
