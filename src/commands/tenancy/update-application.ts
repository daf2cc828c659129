import type { AccessFields } from '../../domain/access/parse-access.js';
import { errorsOf, valid } from '../../domain/field-errors.js';
import type { Json } from '../../domain/json.js';
import type { Seen } from '../../domain/tenancy/directory-command.js';
import { parseName } from '../../domain/tenancy/parse-directory.js';
import { checkExpiresAt } from '../../domain/token/fields/expires-at.js';
import type { LivingApplication } from '../../vault/open-directory.js';
import { type CommandResult, invalidFields } from '../../vault/result.js';
import { type ChangeDirectoryDeps, changeDirectory, type DirectoryContext } from './change-directory.js';
import { documentAfter } from './document-after.js';

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
  if (!(name.ok && expiresAt.ok)) return invalidFields(errorsOf([name, expiresAt]) ?? {});
  const access = { permissions, rules };
  return changeDirectory(vault, context, {
    commands: [
      { kind: 'update_application', id, name: name.value, access, type, expiresAt: expiresAt.value, seenChange },
    ],
    answer: (after) => ({ id, document: documentAfter(after, id) }),
  });
}
