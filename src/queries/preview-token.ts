import { entriesOfRequest } from '../audit/access-log/new-entry.js';
import { type AccessDecision, decideAccess, grantsAnywhere, transformFor } from '../domain/access/decide-access.js';
import { type AccessFields, parseAccess } from '../domain/access/parse-access.js';
import { type TokenPermission, tokenPermissions } from '../domain/access/permission.js';
import { openness, strictest, type Transform } from '../domain/access/transform.js';
import { accessOf } from '../domain/tenancy/documents.js';
import { refOfTokenStream } from '../events/access-log/entity-ref.js';
import { tokenStream } from '../events/tokens/stream-name.js';
import { livingApplication } from '../vault/living-application.js';
import { type CommandResult, done, invalidFields, rejected } from '../vault/result.js';
import { tenantKeysOf } from '../vault/tenant-keys.js';
import type { Vault } from '../vault/vault.js';
import { readToken } from './read-token.js';
import type { ReadContext } from './release.js';
import { type TokenAnswer, tokenAnswer } from './token-answer.js';

/** The application and the token of a preview. */
export type PreviewRequest = {
  readonly applicationId: string;
  readonly tokenId: string;
  /** The access that the application would have, as in a request that updates it. Null: the access that is saved. */
  readonly access: AccessFields | null;
  /** The permission whose response is previewed. */
  readonly permission: ReadingPermission;
  /**
   * Another application of the same person and tenant, which the token is shown to in place of the caller. A management
   * application sees no token, so without it, a preview by one shows only the decisions.
   */
  readonly viewer?: ReadContext | null;
};

/** The permissions that show tokens which exist. */
export type ReadingPermission = Extract<TokenPermission, 'token:read' | 'token:search' | 'token:use'>;

export type TokenPreview = {
  /** What the application may do with this token under each permission, and how much of the token it then sees. */
  readonly decisions: readonly (AccessDecision & { readonly permission: TokenPermission })[];
  /**
   * The token for `release`, in the context of the viewer: under the application's transform, or under the transform of
   * the viewer if that shows less. Null if the application or the viewer may not see the token at all.
   */
  readonly token: TokenAnswer | null;
  /** Whether the application would see more than `token` shows. */
  readonly isLimited: boolean;
};

/**
 * Returns what an application would see of a token. Needs `application:read`, and `application:update` for an access
 * that is not saved. An application may preview itself on the tokens that it may see. Records the preview in the access
 * log.
 *
 * Threat: a caller with a management key previews `reveal` to read a value. `token` therefore never shows more than the
 * caller itself, or its viewer, may get.
 */
export async function previewToken(
  vault: Vault,
  context: ReadContext,
  { applicationId, tokenId, access, permission, viewer: given = null }: PreviewRequest,
): Promise<CommandResult<TokenPreview>> {
  const { caller } = context;
  const { tenantId } = caller;
  const viewer = given ?? context;
  if (viewer.caller.tenantId !== tenantId) throw new Error('a viewer must belong to the tenant of the caller');
  const needed = access === null ? 'application:read' : 'application:update';
  const mayPreview = grantsAnywhere(caller, needed);
  if (!mayPreview && (access !== null || applicationId !== caller.applicationId)) return rejected('forbidden');
  const application = await livingApplication(vault, tenantId, applicationId);
  if (application === null) return rejected('application_not_found');
  const { document } = application;
  const parsed = access === null ? null : parseAccess(access, document.type);
  if (parsed?.ok === false) return invalidFields(parsed.errors);
  const subject = { applicationType: document.type, access: parsed?.value ?? accessOf(document.access) };

  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const read = await readToken(vault, tenantId, tokenStream(tenantKeys.names, tokenId));
  await vault.confirmReads(context.beganAt, false);
  if (read === null) return rejected('token_not_found');
  const ref = refOfTokenStream(read.view.stream);
  const message = 'what an application sees of the token was previewed';
  const fact = { entity: 'token', ref, operation: 'read', message } as const;
  vault.recorder.soon(entriesOfRequest(context, tenantKeys, vault.clock.now(), [fact]));

  const { containers } = read.open;
  const most = mostThatMaySee(viewer, containers);
  if (!mayPreview && most === null) return rejected('forbidden');
  const decisions = tokenPermissions.map((one) => ({ permission: one, ...decideAccess(subject, one, containers) }));
  const asked = transformFor(subject, permission, containers);
  const shown = strictest(asked, most);
  return done({
    decisions,
    token: shown === null ? null : tokenAnswer(viewer.caller, read, shown),
    isLimited: openness(shown) < openness(asked),
  });
}

/** Returns how much of a token this caller may get by the permission that shows it the most. */
function mostThatMaySee({ caller }: ReadContext, containers: readonly string[]): Transform | null {
  return reading
    .map((permission) => transformFor(caller, permission, containers))
    .reduce((most, next) => (openness(next) > openness(most) ? next : most), null);
}

const reading: readonly ReadingPermission[] = ['token:read', 'token:search', 'token:use'];
