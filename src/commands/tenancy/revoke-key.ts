import type { CommandResult } from '../../vault/result.js';
import { type ChangeDirectoryDeps, changeDirectory, type DirectoryContext } from './change-directory.js';

/** Revokes an API key. Once the promise resolves, the vault rejects the key (docs/contract.md, "API keys"). */
export function revokeKey(
  vault: ChangeDirectoryDeps,
  context: DirectoryContext,
  applicationId: string,
  keyId: string,
): Promise<CommandResult<null>> {
  const commands = [{ kind: 'revoke_key', id: applicationId, keyId }] as const;
  return changeDirectory(vault, context, { commands, answer: () => null });
}
