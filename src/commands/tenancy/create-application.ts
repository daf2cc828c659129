import type { Secret } from '../../domain/secret.js';
import type { ApplicationSpec } from '../../domain/tenancy/application-spec.js';
import type { LivingApplication } from '../../vault/open-directory.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';
import { type ChangeDirectoryDeps, changeDirectory, type DirectoryContext } from './change-directory.js';
import { documentAfter } from './document-after.js';
import { newKey } from './new-key.js';
import { issueKeyOnce } from './once-in-directory.js';

/** `key` is returned only in the first response. It is null in the response to a retry. */
export type CreatedApplication = LivingApplication & { readonly key: Secret<string> | null };

/** Creates an application with its first API key (docs/contract.md, "Applications"). */
export async function createApplication(
  vault: ChangeDirectoryDeps & Pick<Vault, 'claims'>,
  context: DirectoryContext,
  spec: ApplicationSpec,
  idempotency: RequestContext['idempotency'] = null,
): Promise<CommandResult<CreatedApplication>> {
  const run = (cmd: string | null): Promise<CommandResult<CreatedApplication>> => {
    const id = vault.random.uuid();
    const { shown, stored } = newKey(vault, spec.type);
    return changeDirectory(vault, context, {
      commands: [{ kind: 'create_application', id, spec, key: stored }],
      claim: cmd === null ? null : { cmd, result: { application: { id, keyId: stored.id } } },
      answer: (after) => ({ id, document: documentAfter(after, id), key: shown }),
    });
  };
  return issueKeyOnce(vault, context, idempotency, run, (application) => done({ ...application, key: null }));
}
