import { entriesOfRequest } from '../audit/access-log/new-entry.js';
import { type AccessDecision, decideAccess, grantsAnywhere, transformFor } from '../domain/access/decide-access.js';
import { type AccessFields, parseAccess } from '../domain/access/parse-access.js';
import { type TokenPermission, tokenPermissions } from '../domain/access/permission.js';
import { openness, strictest, type Transform } from '../domain/access/transform.js';
import { accessOf } from '../domain/tenancy/documents.js';
import { refOfTokenStream } from '../events/access-log/entity-ref.js';
import { tokenStream } from '../events/tokens/stream-name.js';
import { livingApplication } from '../vault/open-directory.js';
import { type CommandResult, done, invalidFields, rejected } from '../vault/result.js';
import { tenantKeysOf } from '../vault/tenant-keys.js';
import type { Vault } from '../vault/vault.js';
import { type ReadTokenDeps, readToken } from './read-token.js';
import type { ReadContext } from './release.js';
import { type TokenAnswer, tokenAnswer } from './token-answer.js';

/** The token to preview, and the application from whose point of view it is previewed. */
export type PreviewRequest = {
  readonly applicationId: string;
  readonly tokenId: string;
  /**
   * The access to preview, in the form of an update request. Null means that the application's stored access is
   * previewed.
   */
  readonly access: AccessFields | null;
  /** The permission that the application uses to read the token in the preview. */
  readonly permission: ReadingPermission;
  /**
   * A private application of the same tenant, used by the same person, to which the token is shown. The caller is a
   * management application, which cannot see tokens. Without a viewer, the preview therefore shows only the decisions.
   */
  readonly viewer: ReadContext | null;
};

/** The permissions that let an application see existing tokens. */
export const readingPermissions = ['token:read', 'token:search', 'token:use'] as const satisfies TokenPermission[];
type ReadingPermission = (typeof readingPermissions)[number];

export type TokenPreview = {
  /**
   * One decision per permission. It states whether the permission gives the application access to this token, and how
   * much of the token the application sees.
   */
  readonly decisions: readonly (AccessDecision & { readonly permission: TokenPermission })[];
  /**
   * The token, to be rendered with `release` in the context of the viewer. Its transform is that of the application, or
   * that of the viewer if the viewer sees less. Null if the application or the viewer may not see the token.
   */
  readonly token: TokenAnswer | null;
  /** True if the application would see more of the token than `token` contains. */
  readonly isLimited: boolean;
};

/**
 * Returns the parts of a token that an application would see. The caller needs `application:read`. To preview access
 * that is not saved, it needs `application:update`. Records the preview in the access log.
 *
 * Threat: a caller with a management key uses a preview under `reveal` to read a value. `token` therefore never shows
 * more than the viewer may see, and is null if there is no viewer.
 */
export async function previewToken(
  vault: ReadTokenDeps & Pick<Vault, 'confirmReads' | 'recorder'>,
  context: ReadContext,
  { applicationId, tokenId, access, permission, viewer }: PreviewRequest,
): Promise<CommandResult<TokenPreview>> {
  const { caller } = context;
  const { tenantId } = caller;
  if (viewer !== null && viewer.caller.tenantId !== tenantId)
    throw new Error('a viewer must belong to the tenant of the caller');
  if (!grantsAnywhere(caller, access === null ? 'application:read' : 'application:update'))
    return rejected('forbidden');
  const application = await livingApplication(vault, tenantId, applicationId);
  if (application === null) return rejected('application_not_found');
  const { document } = application;
  const parsed = access === null ? null : parseAccess(access, document.type);
  if (parsed?.ok === false) return invalidFields(parsed.errors);
  const subject = { applicationType: document.type, access: parsed?.value ?? accessOf(document.access) };

  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const read = await readToken(vault, tenantId, tokenStream(tenantKeys.names, tokenId));
  await vault.confirmReads(context.beganAt);
  if (read === null) return rejected('token_not_found');
  const ref = refOfTokenStream(read.view.stream);
  const message = 'what an application sees of the token was previewed';
  const fact = { entity: 'token', ref, operation: 'read', message } as const;
  vault.recorder.soon(entriesOfRequest(context, tenantKeys, vault.clock.now(), [fact]));

  const { containers } = read.open;
  const decisions = tokenPermissions.map((one) => ({ permission: one, ...decideAccess(subject, one, containers) }));
  const asked = transformFor(subject, permission, containers);
  const shown = viewer === null ? null : strictest(asked, mostThatMaySee(viewer, containers));
  return done({
    decisions,
    token: viewer === null || shown === null ? null : tokenAnswer(viewer.caller, read, shown),
    isLimited: openness(shown) < openness(asked),
  });
}

/**
 * Each of the viewer's permissions gives the viewer a transform for a token with these containers. Returns the
 * transform that shows the most. Returns null if no permission shows the token.
 */
function mostThatMaySee({ caller }: ReadContext, containers: readonly string[]): Transform | null {
  return readingPermissions
    .map((permission) => transformFor(caller, permission, containers))
    .reduce((most, next) => (openness(next) > openness(most) ? next : most), null);
}
