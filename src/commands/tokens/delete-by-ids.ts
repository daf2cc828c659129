import { tokenStream } from '../../events/tokens/stream-name.js';
import type { CommandContext } from '../command-context.js';
import { tenantKeysOf } from '../tenant-keys.js';
import type { Vault } from '../vault.js';
import { type Deletion, deleteTokens } from './delete-tokens.js';

/** Deletes the tokens with these ids; a repeated id counts once. */
export async function deleteByIds(
  vault: Vault,
  context: Pick<CommandContext, 'caller' | 'traceId'>,
  ids: readonly string[],
): Promise<Deletion> {
  const { names } = await tenantKeysOf(vault, context.caller.tenantId);
  return deleteTokens(vault, context, new Set(ids.map((id) => tokenStream(names, id))));
}
