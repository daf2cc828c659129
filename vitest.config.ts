import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // These need servers, helm and Prometheus, or Python: vitest.{cluster,kubernetes,clients}.config.ts.
    exclude: [...configDefaults.exclude, 'test/cluster/**', 'test/kubernetes/**', 'test/clients/python/**'],
    globalSetup: 'test/support/whole-run.ts',
    // Half of the time went into imports. Files share the modules that one of them has loaded, so a test must not depend
    // on the state of a module, and a mock of a module would depend on the order of files.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Shows the content of a list of problems instead of its length.
    chaiConfig: { truncateThreshold: 0 },
  },
});
