import type { ApplicationType } from '../../domain/access/application-type.js';
import { Secret } from '../../domain/secret.js';
import { apiKeyHash, newApiKey } from '../../domain/tenancy/api-key.js';
import type { NewKey } from '../../domain/tenancy/directory-command.js';
import type { ApiKeyDocument } from '../../domain/tenancy/documents.js';
import { livingApplication } from '../../vault/open-directory.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, rejected } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';
import { type ChangeDirectoryDeps, changeDirectory, type DirectoryContext } from './change-directory.js';
import { issueKeyOnce } from './once-in-directory.js';

/**
 * `shown` is the plaintext API key. It is returned only in the first response, and is null in the response to a retry.
 */
export type IssuedKey = { readonly key: ApiKeyDocument; readonly shown: Secret<string> | null };

/**
 * Issues an additional API key to an application. An application can have at most three live API keys
 * (docs/contract.md, "API keys").
 */
export async function issueKey(
  vault: ChangeDirectoryDeps & Pick<Vault, 'claims'>,
  context: DirectoryContext,
  applicationId: string,
  idempotency: RequestContext['idempotency'],
): Promise<CommandResult<IssuedKey>> {
  const run = async (cmd: string | null): Promise<CommandResult<IssuedKey>> => {
    // The type of an application never changes, so it can be read before the command loads the application.
    const application = await livingApplication(vault, context.tenantId, applicationId);
    if (application === null) return rejected('application_not_found');
    const { shown, stored } = newKey(vault, application.document.type);
    return changeDirectory(vault, context, {
      commands: [{ kind: 'issue_key', id: applicationId, key: stored }],
      claim: cmd === null ? null : { cmd, result: { application: { id: applicationId, keyId: stored.id } } },
      answer(after) {
        const key = after.applications.get(applicationId)?.keys.find(({ id }) => id === stored.id);
        if (key === undefined) throw new Error('an issued key must belong to the application');
        return { key, shown };
      },
    });
  };
  return issueKeyOnce(vault, context, idempotency, run, ({ document }, { keyId }) => {
    const key = document.keys.find(({ id }) => id === keyId);
    return key === undefined ? rejected('idempotent_result_gone') : done({ key, shown: null });
  });
}

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

/**
 * Returns a new API key, both in plaintext and in its stored form. API keys are secret, so they are never derived from
 * an idempotency key.
 */
export function newKey(
  { random }: Pick<Vault, 'random'>,
  type: ApplicationType,
): { readonly shown: Secret<string>; readonly stored: NewKey } {
  const key = newApiKey(type, (maxExclusive) => random.integer(maxExclusive));
  return { shown: new Secret(key), stored: { id: random.uuid(), hash: apiKeyHash(key) } };
}
