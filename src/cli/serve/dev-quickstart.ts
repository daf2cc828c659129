import { existsSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createManagement, createTenant } from '../../commands/tenancy/create-tenant.js';
import type { Config } from '../../compose/config/config.js';
import { shellWord } from '../../compose/files/shell-word.js';
import { generateRootKey } from '../../compose/root-key/generate-root-key.js';
import { holdsVault } from '../../compose/root-key/holds-vault.js';
import { devRootKeyPath, rootKeyPlaceOf } from '../../compose/root-key/root-key-place.js';
import { tokenPermissions } from '../../domain/access/permission.js';
import type { ApplicationSpec } from '../../domain/tenancy/application-spec.js';
import type { Service } from '../../http/service.js';
import { openTenant, tenantDocument } from '../../vault/open-directory.js';
import type { Vault } from '../../vault/vault.js';
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

/** The part of `dev-keys.json` that a start reads. */
const devKeys = z.object({ tenant_id: z.string() });

/**
 * What a start with `--dev` did about the files with the keys:
 * - `existing`: the files exist, and nothing changed.
 * - `created`: there was no tenant. The start created one.
 * - `missing`: there was a tenant but no file with its keys. Backups do not contain these files. The start created keys
 *   in the existing tenant.
 * - `dead`: the tenant of the keys was deleted. The start created keys in a new tenant, or in another existing one.
 */
export type Quickstart =
  | { readonly kind: 'existing' }
  | { readonly kind: 'created' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'dead'; readonly inNewTenant: boolean };

/**
 * Creates the tenant and the two applications for `--dev`. Writes their keys to files in the data directory. Only the
 * owner can read these files (docs/contract.md, "First start"). If there is already a tenant but no file with its keys,
 * creates two new applications in that tenant. If the file exists, changes nothing, unless the tenant that it names was
 * deleted: its keys can never work again, so they are replaced.
 */
export async function prepareQuickstart({ vault }: Service, dataDir: string): Promise<Quickstart> {
  const keysFile = join(dataDir, 'dev-keys.json');
  const isPresent = existsSync(keysFile);
  if (isPresent && !(await namesDeletedTenant(vault, keysFile))) return { kind: 'existing' };
  const existing = await oldestTenant(vault);
  const { tenantId, managementKey, keys } =
    existing === null
      ? await createTenant(vault, 'dev', [quickstart])
      : await createManagement(vault, existing, [quickstart]);
  const key = keys[0]?.reveal() ?? '';
  const document = { tenant_id: tenantId, management_key: managementKey.reveal(), quickstart_key: key };
  await writePrivately(join(dataDir, 'quickstart.header'), `SERVICE-API-KEY: ${key}\n`);
  await writePrivately(keysFile, `${JSON.stringify(document, null, 2)}\n`);
  if (isPresent) return { kind: 'dead', inNewTenant: existing === null };
  return { kind: existing === null ? 'created' : 'missing' };
}

/**
 * Returns true if the file with the keys names a tenant that was deleted. Returns false if the file names no tenant,
 * because keys that may still work are never replaced.
 */
async function namesDeletedTenant(vault: Pick<Vault, 'directory' | 'keys'>, keysFile: string): Promise<boolean> {
  const tenantId = tenantIdIn(await readFile(keysFile, 'utf8'));
  return tenantId !== null && (await tenantDocument(vault, tenantId)) === null;
}

function tenantIdIn(text: string): string | null {
  try {
    const parsed = devKeys.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data.tenant_id : null;
  } catch {
    return null;
  }
}

/**
 * Returns the id of the live tenant that was created first. In `--dev` data, this is the tenant of the first start.
 * Returns null if there is no live tenant.
 */
async function oldestTenant(vault: Pick<Vault, 'directory' | 'keys'>): Promise<string | null> {
  const records = await vault.directory.list('tenant');
  const tenants = await Promise.all(
    records.map(async (record) => ({ id: record.id, createdAt: (await openTenant(vault, record))?.created_at })),
  );
  const living = tenants.flatMap(({ id, createdAt }) => (createdAt === undefined ? [] : [{ id, createdAt }]));
  return living.sort((one, other) => one.createdAt - other.createdAt)[0]?.id ?? null;
}

/**
 * Returns the text that a start with `--dev` prints. Unless the keys are old, it has commands that try out a new one.
 */
export function quickstartText(config: Config, address: string, found: Quickstart): string {
  if (found.kind === 'existing') return placesText(config);
  const { data: dataDir } = config.settings;
  const keysFile = join(dataDir, 'dev-keys.json');
  const header = shellWord(`@${join(dataDir, 'quickstart.header')}`);
  const tokens = shellWord(`${address}/tokens`);
  const card =
    '{"type":"card","data":{"number":"4242424242424242","expiration_month":12,"expiration_year":2030,"cvc":"123"}}';
  return `${replacedText(keysFile, found)}
Create a card token and read it back:

  ID=$(curl -sS -H ${header} -H 'Content-Type: application/json' \\
    -d '${card}' \\
    ${tokens} | sed 's/^{"id":"\\([^"]*\\)".*/\\1/') && curl -sS -H ${header} ${tokens}/$ID

${placesText(config)}--dev is for trying Strongroom out on this machine: do not store real data.

`;
}

/** Returns the line that explains why a start with `--dev` wrote new keys. Returns '' for the first start. */
function replacedText(keysFile: string, found: Quickstart): string {
  if (found.kind === 'existing' || found.kind === 'created') return '';
  if (found.kind === 'missing') {
    return (
      `${keysFile} was missing. --dev created two new applications in the existing tenant, and wrote their keys to ` +
      'this file. Older keys still work.\n'
    );
  }
  const made = found.inNewTenant ? 'a new tenant' : 'two new applications in the oldest other tenant';
  return `The tenant of the keys in ${keysFile} was deleted. --dev created ${made}, and replaced the keys in this file.\n`;
}

/** Returns the line that names the files with the keys. Every start with `--dev` prints this line. */
function placesText(config: Config): string {
  const { named } = rootKeyPlaceOf(config);
  const rootKey = named === null ? 'comes from a command' : `is in ${named}`;
  return `The keys of this tenant are in ${join(config.settings.data, 'dev-keys.json')}, and the root key ${rootKey}.\n`;
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

/**
 * Creates the root key for `--dev` next to the data directory. Does nothing if the key exists, if the settings name a
 * different root key, or if the data directory already contains a vault. A new key could not open that vault.
 */
export function ensureDevRootKey(config: Config): void {
  const { named, command, dataDir } = rootKeyPlaceOf(config);
  if (named !== null || command !== null || holdsVault(dataDir)) return;
  const path = devRootKeyPath(dataDir);
  const generated = generateRootKey(path);
  if (!generated.ok) throw new Failure(generated.message);
  process.stderr.write(`--dev created a root key: ${path}\n`);
}
