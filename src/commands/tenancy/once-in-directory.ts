import type { CommandContext } from '../../vault/command-context.js';
import { type LivingApplication, livingApplication } from '../../vault/living-application.js';
import { type CommandResult, rejected } from '../../vault/result.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import type { ClaimResult } from '../../views/finished-claim.js';
import { once } from '../once.js';
import type { DirectoryContext } from './change-directory.js';

type Claimed = NonNullable<ClaimResult['application']>;

/**
 * Runs a command that issues a key once per idempotency key. A repeat returns the application as it is now, without the key, which is
 * stored nowhere; it is not found if the application was deleted (docs/contract.md, "Idempotency").
 */
export async function onceInDirectory<T>(
  vault: Vault,
  { tenantId, actor }: DirectoryContext,
  idempotency: CommandContext['idempotency'],
  run: (cmd: string | null) => Promise<CommandResult<T>>,
  again: (application: LivingApplication, claimed: Claimed) => CommandResult<T>,
): Promise<CommandResult<T>> {
  if (idempotency === null || actor.kind === 'operator') return run(null);
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const request = { applicationId: actor.applicationId, ...idempotency };
  return once(vault, tenantKeys, request, run, async ({ application: claimed }) => {
    const application = claimed === undefined ? null : await livingApplication(vault, tenantId, claimed.id);
    if (application === null || claimed === undefined) return rejected('idempotent_result_gone');
    return again(application, claimed);
  });
}
