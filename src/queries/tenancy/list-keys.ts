import type { ApiKeyDocument } from '../../domain/tenancy/documents.js';
import { livingApplication } from '../../vault/living-application.js';
import { type CommandResult, done, rejected } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';

const minuteMs = 60_000;

/**
 * A live API key. `lastUsedAt` is the time of its last use (ms), exact to the minute; null if it has not been used yet.
 */
export type ListedKey = ApiKeyDocument & { readonly lastUsedAt: number | null };

/** Returns an application's live API keys, without the keys themselves (docs/contract.md, "API keys"). */
export async function listKeys(
  vault: Vault,
  tenantId: string,
  applicationId: string,
): Promise<CommandResult<readonly ListedKey[]>> {
  const application = await livingApplication(vault, tenantId, applicationId);
  if (application === null) return rejected('application_not_found');
  const { keys } = application.document;
  const listed = keys.map(async (key): Promise<ListedKey> => {
    const minute = await vault.directory.keyUsedIn(key.hash);
    return { ...key, lastUsedAt: minute === null ? null : minute * minuteMs };
  });
  return done(await Promise.all(listed));
}
