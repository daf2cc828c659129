import { errorsOf } from '../../domain/field-errors.js';
import type { Json } from '../../domain/json.js';
import type { Seen } from '../../domain/tenancy/directory-command.js';
import type { TenantDocument } from '../../domain/tenancy/documents.js';
import { parseName, parseSettings } from '../../domain/tenancy/parse-directory.js';
import { type CommandResult, invalidFields } from '../../vault/result.js';
import { type ChangeDirectoryDeps, changeDirectory, type DirectoryContext } from './change-directory.js';

/**
 * Changes the name or settings of a tenant. Settings that are absent from the request do not change (docs/contract.md,
 * "Tenants").
 */
export async function updateTenant(
  vault: ChangeDirectoryDeps,
  context: DirectoryContext,
  given: { readonly name: string; readonly settings?: Json | undefined },
  { seenChange }: Seen = {},
): Promise<CommandResult<TenantDocument>> {
  const name = parseName(given.name);
  const settings = parseSettings(given.settings);
  if (!(name.ok && settings.ok)) return invalidFields(errorsOf([name, settings]) ?? {});
  return changeDirectory(vault, context, {
    commands: [{ kind: 'update_tenant', name: name.value, settings: settings.value, seenChange }],
    answer({ tenant }) {
      if (tenant === null) throw new Error('an updated tenant must exist');
      return tenant;
    },
  });
}
