// Creates a vault in a separate directory, and fills it with the same commands that users run.
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storedToken } from '../load/requests.mjs';
import { startVault, strongroom, strongroomJson } from './processes.mjs';

/** The transforms of the two applications that send requests. */
const transforms = { revealing: 'reveal', masking: 'mask' };
const permissions = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete', 'token:use'];

/**
 * Creates a vault, and imports `size` tokens before the vault serves requests. Returns the `flags` that every command
 * needs to use this vault, and the `keys` of the applications. `import` contains the size and duration of the import.
 */
export async function makeVault(directory, size) {
  mkdirSync(directory, { recursive: true });
  const rootKey = join(directory, 'root.key');
  const data = join(directory, 'data');
  const flags = ['--data', data, '--root-key-file', rootKey];
  await strongroom(['keys', 'generate-root', rootKey]);
  await strongroomJson(['init', ...flags]);
  const keys = {};
  for (const [name, transform] of Object.entries(transforms)) {
    const rules = join(directory, `${name}.rules.json`);
    writeFileSync(rules, JSON.stringify([{ description: 'all', priority: 0, container: '/', transform, permissions }]));
    const made = await strongroomJson([
      'applications',
      'create',
      ...flags,
      '--name',
      name,
      '--type',
      'private',
      '--rules',
      rules,
    ]);
    keys[name] = made.key;
  }
  const keyFile = join(directory, 'revealing.key');
  writeFileSync(keyFile, keys.revealing, { mode: 0o600 });
  const lines = join(directory, 'tokens.ndjson');
  await writeLines(lines, 0, size);
  const began = performance.now();
  const summary = await strongroomJson(['tokens', 'import', lines, ...flags, '--api-key-file', keyFile]);
  const seconds = (performance.now() - began) / 1000;
  if (summary.created !== size) throw new Error(`the import made ${JSON.stringify(summary)} of ${size}`);
  return {
    directory,
    data,
    flags,
    keyFile,
    keys,
    size,
    import: { tokens: size, seconds },
    start: (options = {}) => startVault(flags, { logFile: join(directory, 'serve.log'), ...options }),
  };
}

/** Writes tokens to a file, in the format that `tokens import` reads. */
export async function writeLines(file, from, count) {
  const out = createWriteStream(file);
  for (let n = from; n < from + count; n++) {
    if (!out.write(`${JSON.stringify(storedToken(n))}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

/** Returns the size, in bytes, of each file in the data directory that grows with the number of tokens. */
export function fileSizes(data) {
  const sizes = {};
  for (const file of readdirSync(data, { recursive: true })) {
    const stat = statSync(join(data, file));
    if (stat.isFile() && stat.size > 0) sizes[file] = stat.size;
  }
  return sizes;
}

/** Returns the resident memory of a process, in bytes. */
export function memoryOf(pid) {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line[1]) * 1024;
}
