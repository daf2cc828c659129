/**
 * For each folder of `src`, the other folders that it may import (CONTRIBUTING.md, "Map"; ADR 47). Neither files nor
 * folders may import each other in a cycle.
 */
const folders = {
  domain: [],
  events: ['domain'],
  views: ['domain', 'events'],
  ports: ['domain', 'events', 'views'],
  keys: ['events', 'ports'],
  search: ['domain', 'events', 'ports', 'keys'],
  vault: ['domain', 'events', 'views', 'ports', 'keys', 'search'],
  audit: ['domain', 'events', 'views', 'ports', 'keys', 'vault'],
  projections: ['domain', 'events', 'views', 'ports', 'keys', 'search', 'vault'],
  queries: ['domain', 'events', 'views', 'ports', 'keys', 'search', 'vault', 'audit'],
  commands: ['domain', 'events', 'views', 'ports', 'keys', 'search', 'vault', 'audit', 'projections', 'queries'],
  jobs: ['domain', 'events', 'views', 'ports', 'keys', 'vault', 'audit', 'projections', 'commands'],
  adapters: ['domain', 'events', 'views', 'ports'],
  http: ['domain', 'events', 'views', 'ports', 'keys', 'vault', 'audit', 'queries', 'commands'],
  console: ['domain', 'events', 'views', 'ports', 'keys', 'vault', 'audit', 'queries', 'commands', 'http'],
  compose: [
    'domain',
    'events',
    'views',
    'ports',
    'keys',
    'search',
    'vault',
    'audit',
    'projections',
    'queries',
    'commands',
    'jobs',
    'http',
    'adapters',
  ],
  cli: [
    'domain',
    'events',
    'views',
    'ports',
    'keys',
    'vault',
    'audit',
    'projections',
    'queries',
    'commands',
    'jobs',
    'http',
    'console',
    'compose',
  ],
};

const names = Object.keys(folders);
/** Files that use decrypted data: encryption, the response, the export, the update that merges a patch, and the indexes. */
const readers = [
  'vault/decrypted',
  'commands/seal-events',
  'commands/tokens/same-value',
  'commands/tokens/update-token',
  'queries/release',
  'queries/export-tokens',
  'queries/is-found-by',
  'queries/vocabulary/collect-words',
  'projections/fold-row',
];
/** Stores, protocols and libraries that only adapters may know. */
const drivers = [
  'better-sqlite3',
  'mongodb',
  'ioredis',
  'bullmq',
  '@eventstore/db-client',
  '@grpc/grpc-js',
  'prom-client',
];

module.exports = {
  forbidden: [
    ...names.map((folder) => ({
      name: `${folder}-imports`,
      severity: 'error',
      comment: `src/${folder} may import ${folders[folder].map((other) => `src/${other}`).join(', ') || 'no other folder'}.`,
      from: { path: `^src/${folder}/` },
      to: { path: '^src/', pathNot: `^src/(${[folder, ...folders[folder]].join('|')})/` },
    })),
    {
      name: 'only-known-folders',
      severity: 'error',
      comment: 'Each folder of src must be listed in this file.',
      from: { path: '^src/', pathNot: `^src/(${names.join('|')})/` },
      to: {},
    },
    {
      name: 'drivers-in-adapters',
      severity: 'error',
      comment: 'Only an adapter imports the client of a store.',
      from: { path: '^src/', pathNot: '^src/adapters/' },
      to: { path: `^node_modules/(${drivers.join('|')})/` },
    },
    {
      name: 'decrypted-data',
      severity: 'error',
      comment: 'A response gets decrypted data from release, which records who sees it (src/queries/release.ts).',
      from: { pathNot: `^src/(${readers.join('|')})\\.ts$` },
      to: { path: '^src/vault/unwrap\\.ts$' },
    },
    { name: 'no-cycles-of-files', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-cycles-of-folders', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },
    // The build writes `dist/bin`.
    { name: 'resolved', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^#src/bin/' } },
  ],
  options: {
    // Imports of types count. TypeScript 7 has no interface that dependency-cruiser could use.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
};
