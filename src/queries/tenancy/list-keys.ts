import type { ApiKeyDocument } from '../../domain/tenancy/documents.js';
import { type LivingApplication, livingApplication } from '../../vault/open-directory.js';
import { type CommandResult, done, rejected } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';

const minuteMs = 60_000;

/**
 * A live API key. `lastUsedAt` is the time of its last use in ms, rounded down to the minute. It is null if the key has
 * never been used.
 */
export type ListedKey = ApiKeyDocument & { readonly lastUsedAt: number | null };

/** Returns an application's live API keys, without their secrets (docs/contract.md, "API keys"). */
export async function listKeys(
  vault: Pick<Vault, 'directory' | 'keys'>,
  tenantId: string,
  applicationId: string,
): Promise<CommandResult<readonly ListedKey[]>> {
  const application = await livingApplication(vault, tenantId, applicationId);
  if (application === null) return rejected('application_not_found');
  return done(await keysWithLastUse(vault, application));
}

/** Returns the live API keys of an application that has already been loaded, with the time of their last use. */
export function keysWithLastUse(
  vault: Pick<Vault, 'directory'>,
  { document }: Pick<LivingApplication, 'document'>,
): Promise<readonly ListedKey[]> {
  return Promise.all(
    document.keys.map(async (key) => {
      const minute = await vault.directory.keyUsedIn(key.hash);
      return { ...key, lastUsedAt: minute === null ? null : minute * minuteMs };
    }),
  );
}
