// Bundles the modules in `dist` into the program in `dist/bin`. Without the bundle, a short command would spend two
// thirds of its time loading 600 small modules.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { rolldown } from 'rolldown';

/**
 * The packages that consist of many small modules, and the packages that we import statically and that have only ES
 * modules, with their dependencies. After an update of one of these packages, build again. The other packages are loaded
 * from `node_modules`.
 */
const bundled =
  /^(zod|commander|fastify-type-provider-zod|@fastify\/error|p-limit|yocto-queue|openid-client|jose|oauth4webapi)(\/|$)/;

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

/** Bundles the modules behind each entry. An entry is a file that is loaded by its name, so the name has no hash. */
async function bundle(input, output) {
  const built = await rolldown({
    input,
    platform: 'node',
    external: isExternal,
    onLog(_level, { message }) {
      throw new Error(message);
    },
  });
  await built.write({ dir: 'dist/bin', ...output });
}

cpSync('src/console/templates', 'dist/console/templates', { recursive: true });
cpSync('src/console/assets', 'dist/console/assets', { recursive: true });
rmSync('dist/bin', { recursive: true, force: true });
// The launcher and the verifier are single files. `audit bundle` copies the verifier into each evidence bundle.
await bundle(
  { strongroom: 'dist/cli/main.js', 'bundle-verifier': 'dist/cli/audit/bundle-verifier.js' },
  { entryFileNames: '[name].js' },
);
// Node.js loads CommonJS in much less time than ES modules. The launcher and the vault find these entries as
// `#src/bin/NAME.cjs`.
await bundle(
  {
    program: 'dist/cli/program.js',
    'writer-thread': 'dist/adapters/sqlite/writer/writer-thread.js',
    'background-thread': 'dist/adapters/sqlite/writer/background-thread.js',
    'rebuild-worker': 'dist/compose/rebuild/rebuild-worker.js',
  },
  { format: 'cjs', strict: true, entryFileNames: '[name].cjs', chunkFileNames: '[name]-[hash].cjs' },
);
