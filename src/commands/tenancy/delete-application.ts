import type { CommandResult } from '../../vault/result.js';
import { type ChangeDirectoryDeps, changeDirectory, type DirectoryContext } from './change-directory.js';

/**
 * Deletes an application. Once the promise resolves, the vault rejects all API keys of the application
 * (docs/contract.md, "Applications").
 */
export function deleteApplication(
  vault: ChangeDirectoryDeps,
  context: DirectoryContext,
  id: string,
): Promise<CommandResult<null>> {
  return changeDirectory(vault, context, { commands: [{ kind: 'delete_application', id }], answer: () => null });
}
