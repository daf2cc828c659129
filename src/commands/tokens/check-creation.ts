import type { TokenRequest } from '../../domain/token/draft-token.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, invalidFields } from '../../vault/result.js';
import { type TenantKeysDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { chooseId } from './choose-id.js';
import { prepareCreation } from './creation.js';

/**
 * Runs those checks of `createToken` that do not read the token stores. Stores nothing. Threat: a caller uses these
 * checks to find ids in use or stored values without being charged for guesses. For this reason, the checks look up
 * neither ids nor values.
 */
export async function checkCreation(
  vault: TenantKeysDeps & Pick<Vault, 'clock' | 'expressions' | 'random' | 'turns'>,
  context: Pick<RequestContext, 'caller'>,
  request: TokenRequest,
): Promise<CommandResult<null>> {
  const { tenantId } = context.caller;
  const slices = vault.turns.begin(tenantId);
  const prepared = await prepareCreation(vault, context, await tenantKeysOf(vault, tenantId), request, slices);
  if (!prepared.ok) return prepared;
  const id = await slices.run(chooseId(vault, prepared.value, vault.random, 0));
  return id.ok ? done(null) : invalidFields(id.errors);
}
