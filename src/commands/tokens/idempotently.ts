import type { TenantKeys } from '../../ports/key-ring.js';
import type { CommandContext } from '../../vault/command-context.js';
import type { CommandResult } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';
import type { ClaimResult } from '../../views/finished-claim.js';
import { once } from '../once.js';

/**
 * Runs a command on tokens once per idempotency key: a repeat gets the result of the first, which `again` renders from
 * the stored tokens under the caller's present rules (docs/contract.md, "Idempotency").
 */
export function idempotently<T>(
  vault: Vault,
  tenantKeys: TenantKeys,
  { caller, idempotency }: CommandContext,
  run: (cmd: string | null) => Promise<CommandResult<T>>,
  again: (result: ClaimResult) => Promise<CommandResult<T>>,
): Promise<CommandResult<T>> {
  const request = idempotency === null ? null : { applicationId: caller.applicationId, ...idempotency };
  return once(vault, tenantKeys, request, run, again);
}
