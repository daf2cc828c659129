import { existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createTenant } from '../../commands/tenancy/create-tenant.js';
import type { Config } from '../../compose/config/config.js';
import { devRootKeyPath } from '../../compose/root-key/dev-root-key-path.js';
import { generateRootKey } from '../../compose/root-key/generate-root-key.js';
import { tokenPermissions } from '../../domain/access/permission.js';
import type { ApplicationSpec } from '../../domain/tenancy/application-spec.js';
import type { Service } from '../../http/service.js';
import { Failure } from '../failure.js';

const rule = {
  description: 'everything, unmasked',
  priority: 1,
  container: '/',
  transform: 'reveal',
  permissions: tokenPermissions,
} as const;
const quickstart: ApplicationSpec = {
  name: 'quickstart',
  type: 'private',
  access: { kind: 'rules', rules: [rule] },
  expiresAt: null,
};

/**
 * Creates the tenant and the two applications for `--dev`. Writes their keys to files in the data directory. Only the
 * owner can read these files (docs/contract.md, "First start"). If the tenant and the applications already exist,
 * changes nothing and returns false.
 */
export async function prepareQuickstart({ vault }: Service, dataDir: string): Promise<boolean> {
  const keysFile = join(dataDir, 'dev-keys.json');
  if (existsSync(keysFile)) return false;
  const { tenantId, managementKey, keys } = await createTenant(vault, 'dev', [quickstart]);
  const key = keys[0]?.reveal() ?? '';
  const document = { tenant_id: tenantId, management_key: managementKey.reveal(), quickstart_key: key };
  await writePrivately(join(dataDir, 'quickstart.header'), `SERVICE-API-KEY: ${key}\n`);
  await writePrivately(keysFile, `${JSON.stringify(document, null, 2)}\n`);
  return true;
}

/** Returns shell commands that create a card token and read it back. */
export function quickstartText(dataDir: string, address: string): string {
  const header = shellWord(`@${join(dataDir, 'quickstart.header')}`);
  const tokens = shellWord(`${address}/tokens`);
  const card =
    '{"type":"card","data":{"number":"4242424242424242","expiration_month":12,"expiration_year":2030,"cvc":"123"}}';
  return `
Create a card token and read it back:

  ID=$(curl -sS -H ${header} -H 'Content-Type: application/json' \\
    -d '${card}' \\
    ${tokens} | sed 's/^{"id":"\\([^"]*\\)".*/\\1/') && curl -sS -H ${header} ${tokens}/$ID

${placesText(dataDir)}--dev is for trying Strongroom out on this machine: do not store real data in it.

`;
}

/** Returns the line that names the files with the keys. Every start with `--dev` prints this line. */
export function placesText(dataDir: string): string {
  return `The keys of this tenant are in ${join(dataDir, 'dev-keys.json')}, the root key is in ${devRootKeyPath(dataDir)}.\n`;
}

/** Returns the line that explains how to open the console. */
export function consoleText(address: string): string {
  return `Open the console at ${address} and sign in with these keys.\n`;
}

/**
 * Atomically writes a file that only its owner can read. The content is on disk before the file gets its final name.
 */
async function writePrivately(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

/** Returns the text as one shell word, in quotes if necessary. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Creates the root key for `--dev` next to the data directory. Does nothing if the key exists or if the settings name a
 * different root key.
 */
export function ensureDevRootKey({ settings }: Config): void {
  const path = devRootKeyPath(settings.data);
  if (settings.root_key_file !== null || settings.root_key_command !== null || existsSync(path)) return;
  const generated = generateRootKey(path);
  if (!generated.ok) throw new Failure(generated.message);
  process.stderr.write(`--dev created a root key: ${path}\n`);
}
