import { type LivingApplication, livingApplication } from '../../vault/open-directory.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, rejected } from '../../vault/result.js';
import { type TenantKeysDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import type { ClaimResult } from '../../views/finished-claim.js';
import { claimRequest } from '../idempotency.js';
import type { DirectoryContext } from './change-directory.js';

type DirectoryClaimDeps = TenantKeysDeps & Pick<Vault, 'claims' | 'clock'>;

type ClaimedApplication = NonNullable<ClaimResult['application']>;

/**
 * Ensures that a command runs at most once per idempotency key. `again` returns the response to a retry, or null if the
 * result of the first request no longer exists. In that case, a retry returns 404 (docs/contract.md, "Idempotency").
 */
export async function onceInDirectory<T>(
  vault: DirectoryClaimDeps,
  { tenantId, actor }: DirectoryContext,
  idempotency: RequestContext['idempotency'],
  run: (cmd: string | null) => Promise<CommandResult<T>>,
  again: (result: ClaimResult) => Promise<CommandResult<T> | null>,
): Promise<CommandResult<T>> {
  if (idempotency === null || actor.kind === 'operator') return run(null);
  const claim = await claimRequest(vault, await tenantKeysOf(vault, tenantId), actor.applicationId, idempotency);
  if (claim.state === 'in_flight') return rejected('idempotency_in_flight');
  if (claim.state === 'repeat') return (await again(claim.result)) ?? rejected('idempotent_result_gone');
  try {
    return await run(claim.cmd);
  } finally {
    await claim.release();
  }
}

/**
 * Ensures that a command that issues an API key runs at most once per idempotency key. A retry returns the application
 * in its current state, without the API key, because the vault does not store API keys.
 */
export function issueKeyOnce<T>(
  vault: DirectoryClaimDeps,
  context: DirectoryContext,
  idempotency: RequestContext['idempotency'],
  run: (cmd: string | null) => Promise<CommandResult<T>>,
  again: (application: LivingApplication, claimed: ClaimedApplication) => CommandResult<T>,
): Promise<CommandResult<T>> {
  return onceInDirectory(vault, context, idempotency, run, async ({ application: claimed }) => {
    if (claimed === undefined) return null;
    const application = await livingApplication(vault, context.tenantId, claimed.id);
    return application === null ? null : again(application, claimed);
  });
}
