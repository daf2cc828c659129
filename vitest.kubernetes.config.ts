import { defineConfig } from 'vitest/config';

/**
 * The configuration for `npm run test:kubernetes`, which runs the tests that need helm, the schemas of Kubernetes, and
 * Prometheus.
 */
export default defineConfig({
  test: {
    globalSetup: 'test/kubernetes/prepare-tools.ts',
    include: ['test/kubernetes/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    chaiConfig: { truncateThreshold: 0 },
  },
});
