// Bundles the modules in `dist` into the program in `dist/bin`. Without the bundle, a short command would spend two
// thirds of its time loading 600 small modules.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { rolldown } from 'rolldown';

/**
 * The packages that consist of many small modules. The other packages stay in `node_modules`, where vulnerability
 * scanners find them.
 */
const bundled = /^(zod|commander|fastify-type-provider-zod|@fastify\/error)(\/|$)/;

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/**
 * Returns true if a module stays outside the bundle. Throws if the module's package is not a dependency, because an
 * installation would not contain that package. For some code, such as a template that contains `</script>`, the bundler
 * itself adds an import of such a package.
 */
function isExternal(id) {
  if (!/^[@a-z]/.test(id) || bundled.test(id) || id.startsWith('dist/')) return false;
  const name = id.split('/', id.startsWith('@') ? 2 : 1).join('/');
  if (!isBuiltin(id) && !Object.hasOwn(dependencies, name)) throw new Error(`${name} is not a dependency`);
  return true;
}

// `tsc` keeps the output of a module that was moved or deleted, and a test that still imports it would pass.
for (const path of readdirSync('dist', { recursive: true })) {
  const [module] = path.split(/\.(?:d\.ts|js|js\.map)$/);
  if (module === path || /^(bin|console\/(assets|templates))\//.test(path)) continue;
  if (!existsSync(`src/${module}.ts`)) rmSync(`dist/${path}`);
}

const bundle = await rolldown({
  // Each entry is a file that Node.js starts: the program, its three worker threads, and the verifier. The verifier is
  // copied into each evidence bundle.
  input: {
    strongroom: 'dist/cli/main.js',
    'writer-thread': 'dist/adapters/sqlite/writer/writer-thread.js',
    'background-thread': 'dist/adapters/sqlite/writer/background-thread.js',
    'rebuild-worker': 'dist/compose/rebuild/rebuild-worker.js',
    'bundle-verifier': 'dist/cli/audit/bundle-verifier.js',
  },
  platform: 'node',
  external: isExternal,
  onLog(_level, { message }) {
    throw new Error(message);
  },
});
cpSync('src/console/templates', 'dist/console/templates', { recursive: true });
cpSync('src/console/assets', 'dist/console/assets', { recursive: true });
await bundle.write({
  dir: 'dist/bin',
  cleanDir: true,
  // All files are in one folder, because `audit bundle` reads the verifier relative to its own file. The program finds
  // the worker threads by these names (`#src/bin/NAME.js`), so the names of entries contain no hash.
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
});
