import { tokenStream } from '../../events/tokens/stream-name.js';
import type { CommandContext } from '../command-context.js';
import { tenantKeysOf } from '../tenant-keys.js';
import type { Vault } from '../vault.js';
import { deleteTokens } from './delete-tokens.js';

/** Deletes the tokens with these ids (contract, section 9); a repeated id counts once. */
export async function deleteByIds(
  vault: Vault,
  context: Pick<CommandContext, 'caller' | 'traceId'>,
  ids: readonly string[],
): Promise<{ readonly deleted: number; readonly refused: number; readonly remaining: 0 }> {
  const { names } = await tenantKeysOf(vault, context.caller.tenantId);
  const streams = new Set(ids.map((id) => tokenStream(names, id)));
  const tokens = [...streams].map((stream) => ({ stream, revision: null }));
  const { deleted, refused } = await deleteTokens(vault, context, tokens);
  return { deleted, refused, remaining: 0 };
}
