import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // They need servers, or helm and Prometheus: vitest.cluster.config.ts, vitest.kubernetes.config.ts.
    exclude: [...configDefaults.exclude, 'test/cluster/**', 'test/kubernetes/**'],
    globalSetup: 'test/support/say-what-needs-servers.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A list of what is wrong is shown, not its length.
    chaiConfig: { truncateThreshold: 0 },
  },
});
