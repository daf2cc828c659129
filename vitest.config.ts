import { configDefaults, defineConfig } from 'vitest/config';

/**
 * The tests that take minutes: kills, damaged files, erasure, rotation, rebuilds, backups, load, imports and exports of
 * many tokens, random search plans, commands that run as processes, and all commands in the docs.
 */
const long = [
  'test/adapters/eventstoredb/{event-log,rights}.test.ts',
  'test/adapters/sqlite/{broken-files,damaged-index,search-index,search-rows}.test.ts',
  'test/backup/**/*.test.ts',
  'test/cli/bulk/**/*.test.ts',
  'test/cli/{admin-listener,audit,audit-evidence,bad-input,bad-starts,console,directory-verbs}.test.ts',
  'test/cli/{doctor,full-disk,launcher,mounts,over-http,projections,serve,serve-dev}.test.ts',
  'test/cli/{serve-settings,serve-tls,tokens,tracing,usage,words}.test.ts',
  'test/clients/typescript/package.test.ts',
  'test/crash/**/*.test.ts',
  'test/docs/{pages,how-to-pages}.test.ts',
  'test/erasure/**/*.test.ts',
  'test/http/load/**/*.test.ts',
  'test/rebuild/**/*.test.ts',
  'test/rotation/**/*.test.ts',
];
// These tests need Chromium. Run them with `npm run test:browser`.
const browser = ['test/console/browser/**/*.test.ts'];
// These tests need servers, helm and Prometheus, or Python. vitest.{cluster,kubernetes,clients}.config.ts run them.
const elsewhere = [...configDefaults.exclude, 'test/cluster/**', 'test/kubernetes/**', 'test/clients/python/**'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/run-folder.ts', 'test/support/what-did-not-run.ts'],
    // With isolation, half of the time went into imports. Without it, test files share the modules that one of them has
    // loaded. A test must therefore not depend on the state of a module. The effect of a module mock would depend on
    // the order of the files.
    isolate: false,
    maxWorkers: 2,
    // Some tests run dozens of commands, or start Chromium. They take half a minute on a busy machine, and must not
    // fail on a slower one.
    testTimeout: 180_000,
    hookTimeout: 60_000,
    // `expect.poll` waits for something to happen. By default, it waits only a second, which a busy machine can exceed.
    expect: { poll: { timeout: 30_000 } },
    // A failed comparison shows the whole content of a list, instead of its length.
    chaiConfig: { truncateThreshold: 0 },
    projects: [
      // `npm test`
      {
        extends: true,
        test: { name: 'short', include: ['test/**/*.test.ts'], exclude: [...elsewhere, ...long, ...browser] },
      },
      // `npm run test:long`
      { extends: true, test: { name: 'long', include: long, exclude: elsewhere } },
      // `npm run test:browser`
      { extends: true, test: { name: 'browser', include: browser, exclude: elsewhere } },
    ],
  },
});
