import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';

/** These ports are not stores. Tests replace them, and their adapters are too small for a suite. */
const withoutSuite = new Set(['Clock', 'Random', 'Timers']);

/** Folders whose code several adapters share. */
const parts = new Set(['shared']);

const sources = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path));
const text = (path: string): string => readFileSync(path, 'utf8');

const ports = sources('src/ports').flatMap((path) =>
  [...text(path).matchAll(/^export (?:interface|type(?= EventLog )) (\w+)/gm)].map(([, port]) => ({
    port: String(port),
    suiteFile: `test/contract/${basename(path)}`,
    suite: `${String(port).charAt(0).toLowerCase()}${String(port).slice(1)}Contract`,
  })),
);
const stores = ports.filter(({ port }) => !withoutSuite.has(port));

test('the list of ports is not empty', () => {
  expect(ports.map(({ port }) => port)).toEqual(
    expect.arrayContaining(['Claims', 'Clock', 'Directory', 'EventLog', 'KeyStore', 'TokenRows', 'UnitOfWork']),
  );
});

test.each(stores)('the port $port has a contract suite', ({ suite, suiteFile }) => {
  expect(existsSync(suiteFile), suiteFile).toBe(true);
  expect(text(suiteFile)).toContain(`export function ${suite}(`);
});

describe.each(readdirSync('src/adapters').filter((folder) => !parts.has(folder)))('the adapter %s', (adapter) => {
  /** The result types of the functions exported by the adapter. They name the ports implemented by the adapter. */
  const results = sources(`src/adapters/${adapter}`).flatMap((path) =>
    [...text(path).matchAll(/^export (?:async )?function \w+(?:<[^>]*>)?\([\s\S]*?\)(?::\s*([^{;]+))/gm)].map(
      // `StoredLog` counts as `EventLog`, because its callers see the same events, apart from the MACs.
      ([, result]) =>
        String(result)
          .replace(/\bStoredLog\b/, 'EventLog')
          .replace(/\bStoredWork\b/, 'UnitOfWork'),
    ),
  );
  const isImplemented = ({ port }: { port: string }) =>
    results.some((result) => new RegExp(`\\b${port}\\b`).test(result));
  const implemented = stores.filter(isImplemented);

  test('implements a port', () => {
    expect(ports.filter(isImplemented), results.join(' | ')).not.toEqual([]);
  });

  test('runs the suite of every port that it implements', () => {
    // Suites for adapters that need servers, such as `mongodb-key-store.test.ts`, are in the folder of the tests that
    // need servers.
    const users = [...sources('test/contract'), ...sources('test/cluster')].filter((path) =>
      new RegExp(`^${adapter}[-\\w]*\\.test\\.ts$`).test(basename(path)),
    );
    const calls = users.map(text).join('\n');
    const lacking = implemented.filter(({ suite }) => !new RegExp(`^ *${suite}\\(`, 'm').test(calls));
    expect(lacking).toEqual([]);
  });
});

test('the adapters together implement every store', () => {
  const users = [...sources('test/contract'), ...sources('test/cluster')]
    .filter((path) => path.endsWith('.test.ts'))
    .map(text)
    .join('\n');
  expect(stores.filter(({ suite }) => !users.includes(`${suite}('`))).toEqual([]);
});
