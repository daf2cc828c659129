#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// These checks run before the program is loaded. If Node.js is too old, the native module was built for a different
// version, or the limit on open files is too low, loading the program would fail with a stack trace. Static imports run
// before the checks, so this file imports only modules that are built into Node.js.
const require = createRequire(import.meta.url);
/** How many files and connections a process must be able to open. A service without connections has 60 of them open. */
const descriptorsMin = 256;
const addon = 'better-sqlite3/build/Release/better_sqlite3.node';

const fault = faultOfNode() ?? faultOfLimit() ?? faultOfAddon();
if (fault === null) {
  // This is `dist/bin/program.cjs`, which `scripts/bundle.mjs` builds from `program.ts`.
  require('#src/bin/program.cjs');
} else {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}

/**
 * Returns a message if this version of Node.js is older than the minimum in package.json (`>=MAJOR.MINOR`), or null if
 * it is not.
 */
function faultOfNode(): string | null {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly engines: { readonly node: string };
  };
  const minimum = engines.node.replace('>=', '');
  const [major = 0, minor = 0] = minimum.split('.').map(Number);
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return null;
  return (
    `Strongroom needs Node.js ${minimum} or later, and this is ${process.versions.node} (${process.execPath}). ` +
    'Install Node.js 24.'
  );
}

/**
 * Returns a message if this process may open too few files, or null if it may open enough. At startup, Node.js raises
 * its limit to the hard limit.
 */
function faultOfLimit(): string | null {
  // Systems other than Linux have no such file.
  if (!existsSync('/proc/self/limits')) return null;
  const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  if (limit === undefined || Number(limit) >= descriptorsMin) return null;
  return (
    `Strongroom needs at least ${descriptorsMin} open files, and this process may open only ${limit}. ` +
    'Raise the limit, for example with `ulimit -n 4096`, or with LimitNOFILE in a systemd unit.'
  );
}

/**
 * Loads the native module, which the program needs later. Returns a message if the module cannot be loaded, or null if
 * it can.
 */
function faultOfAddon(): string | null {
  const folder = new URL('../..', import.meta.url).pathname;
  const rebuild = `run \`npm rebuild better-sqlite3\` in ${folder} with this Node.js.`;
  try {
    require(addon);
    return null;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND';
    const [found, fix] = !isMissing
      ? ['was built for another Node.js or system', rebuild]
      : existsSync(new URL('../../node_modules/better-sqlite3', import.meta.url))
        ? ['was not built', rebuild]
        : ['is not installed', 'run `npm ci` where Strongroom was unpacked.'];
    return `The native module better-sqlite3 ${found} (this is Node.js ${process.versions.node}): ${fix}`;
  }
}
