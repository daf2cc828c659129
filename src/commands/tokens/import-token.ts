import { maySeeClear } from '../../domain/access/decide-access.js';
import { finish } from '../../domain/steps.js';
import { deriveFrom } from '../../domain/token/derive-content.js';
import { draftToken, type TokenRequest } from '../../domain/token/draft-token.js';
import { checkIdSource, evaluateId } from '../../domain/token/fields/id.js';
import { fingerprintOf } from '../../events/tokens/fingerprint.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { readToken } from '../../queries/read-token.js';
import type { CommandContext } from '../../vault/command-context.js';
import { type CommandResult, done, invalidFields } from '../../vault/result.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { createToken } from './create-tokens.js';

/** `skipped` means that the requested token already existed. */
export type Imported = 'created' | 'skipped' | 'deduplicated';

/** A create request that contains an id. Because of the id, a retry of the request changes nothing. */
export type ImportRequest = TokenRequest & { readonly id: string };

/**
 * Creates a token if it does not exist yet (ADR 19). If the id is in use, the requested token normally counts as
 * existing. The request is rejected only if the stored token is clearly a different token: its value is different, it
 * was never changed, and the caller may see it in plaintext. If `isDerived` is true, the id was derived from the
 * request, so the values are not compared.
 */
export async function importToken(
  vault: Vault,
  context: CommandContext,
  request: ImportRequest,
  isDerived: boolean,
): Promise<CommandResult<Imported>> {
  const source = checkIdSource(vault.expressions, request.id);
  if (source.ok && source.value.kind === 'expression' && source.value.random) {
    return invalidFields({ id: ['must not use a random alias in an import, because the import could not be resumed'] });
  }
  const created = await createToken(vault, context, request, 'exempt');
  if (created.ok) {
    if (created.value.recordedAs === 'create') return done('created');
    // Deduplication comes before the check for ids in use. The token that deduplication found may therefore be the
    // token that an earlier attempt at this request created.
    return done(created.value.id === idOf(vault, request) ? 'skipped' : 'deduplicated');
  }
  if (created.code !== 'id_in_use') return created;
  if (isDerived || !(await isAnother(vault, context, request))) return done('skipped');
  return { ...created, errors: { id: ['is in use by a token with another value'] } };
}

/**
 * Returns the id that a request contains or that its id expression evaluates to. Returns null if the request is
 * invalid.
 */
function idOf({ expressions, clock }: Vault, request: ImportRequest): string | null {
  const drafted = draftToken(expressions, request, clock.now());
  if (!drafted.ok || drafted.value.id === null) return null;
  const id = finish(evaluateId(expressions, drafted.value.id, drafted.value.draft.data, () => 0));
  return id.ok ? id.value : null;
}

/**
 * Returns true if the token with the requested id has a different fingerprint, and is therefore a different token.
 * Threat: a caller that may not read the value in plaintext finds out whether a guessed value is right. For such a
 * caller, the fingerprints are not compared, and the result is false.
 */
async function isAnother(vault: Vault, { caller }: CommandContext, request: ImportRequest): Promise<boolean> {
  const id = idOf(vault, request);
  const tenantKeys = await tenantKeysOf(vault, caller.tenantId);
  const read = id === null ? null : await readToken(vault, caller.tenantId, tokenStream(tenantKeys.names, id));
  if (read === null || read.life.modifiedAt !== null) return false;
  const { containers, fingerprint } = read.open;
  if (!maySeeClear(caller, containers)) return false;
  const drafted = draftToken(vault.expressions, request, vault.clock.now());
  const derived = drafted.ok ? deriveFrom(vault.expressions, drafted.value.draft) : drafted;
  return (
    derived.ok && fingerprintOf(tenantKeys.fingerprints, request.type, derived.value.fingerprintValue) !== fingerprint
  );
}
