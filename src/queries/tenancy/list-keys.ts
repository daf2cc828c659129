import type { ApiKeyDocument } from '../../domain/tenancy/documents.js';
import { livingApplication } from '../../vault/living-application.js';
import { type CommandResult, done, rejected } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';

/** A living key with the day of its last use, counted from 1970-01-01; null: not used yet. */
export type ListedKey = ApiKeyDocument & { readonly usedOn: number | null };

/** Returns the living keys of an application, without the keys themselves (docs/contract.md, "API keys"). */
export async function listKeys(
  vault: Vault,
  tenantId: string,
  applicationId: string,
): Promise<CommandResult<readonly ListedKey[]>> {
  const application = await livingApplication(vault, tenantId, applicationId);
  if (application === null) return rejected('application_not_found');
  const { keys } = application.document;
  return done(
    await Promise.all(keys.map(async (key) => ({ ...key, usedOn: await vault.directory.keyUsedOn(key.hash) }))),
  );
}
