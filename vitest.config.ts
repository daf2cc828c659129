import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // They need servers: vitest.cluster.config.ts.
    exclude: [...configDefaults.exclude, 'test/cluster/**'],
    globalSetup: 'test/support/say-what-needs-servers.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A list of what is wrong is shown, not its length.
    chaiConfig: { truncateThreshold: 0 },
  },
});
