import { type AccessFields, checkAccessFields } from '../../domain/access/parse-access.js';
import { errorsOf, valid } from '../../domain/field-errors.js';
import type { Json } from '../../domain/json.js';
import type { Secret } from '../../domain/secret.js';
import type { ApplicationSpec } from '../../domain/tenancy/application-spec.js';
import type { Seen } from '../../domain/tenancy/directory-command.js';
import type { ApplicationDocument } from '../../domain/tenancy/documents.js';
import { parseName } from '../../domain/tenancy/parse-directory.js';
import type { TenantDirectory } from '../../domain/tenancy/tenant-directory.js';
import { checkExpiresAt } from '../../domain/token/fields/expires-at.js';
import type { LivingApplication } from '../../vault/open-directory.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, invalidFields } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';
import { newKey } from './api-keys.js';
import { type ChangeDirectoryDeps, changeDirectory, type DirectoryContext } from './change-directory.js';
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
      answer: (after) => ({ id, document: applicationAfter(after, id), key: shown }),
    });
  };
  return issueKeyOnce(vault, context, idempotency, run, (application) => done({ ...application, key: null }));
}

/** The fields of a `PUT` request on an application. The JSON types of the fields have already been checked. */
export type ApplicationUpdate = AccessFields & {
  readonly name: string;
  readonly type?: Json | undefined;
  /** If absent, the expiry does not change. Null means that the application never expires. */
  readonly expires_at?: string | null | undefined;
};

/** Changes an application's name, expiry, and permissions or rules (docs/contract.md, "Applications"). */
export async function updateApplication(
  vault: ChangeDirectoryDeps,
  context: DirectoryContext,
  id: string,
  { name: givenName, type, permissions, rules, expires_at: givenExpiry }: ApplicationUpdate,
  { seenChange }: Seen = {},
): Promise<CommandResult<LivingApplication>> {
  const name = parseName(givenName);
  const expiresAt = givenExpiry === undefined ? valid(undefined) : checkExpiresAt(givenExpiry, vault.clock.now());
  const access = { permissions, rules };
  const given = checkAccessFields(access);
  if (!(name.ok && given.ok && expiresAt.ok)) return invalidFields(errorsOf([name, given, expiresAt]) ?? {});
  return changeDirectory(vault, context, {
    commands: [
      { kind: 'update_application', id, name: name.value, access, type, expiresAt: expiresAt.value, seenChange },
    ],
    answer: (after) => ({ id, document: applicationAfter(after, id) }),
  });
}

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

/** Returns the document of a live application after a change. */
function applicationAfter({ applications }: TenantDirectory, id: string): ApplicationDocument {
  const document = applications.get(id);
  if (document === undefined) throw new Error('a changed application must exist');
  return document;
}
