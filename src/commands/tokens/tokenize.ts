import type { FieldErrors } from '../../domain/field-errors.js';
import { errorsUnder } from '../../domain/json-path.js';
import type { TokenRequest } from '../../domain/token/draft-token.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import type { TokenAnswer } from '../../queries/token-answer.js';
import type { CommandContext } from '../../vault/command-context.js';
import { type CommandResult, done, invalidFields, type Rejected, rejected } from '../../vault/result.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import type { ClaimResult } from '../../views/finished-claim.js';
import { createTogether } from './create-together.js';
import { type Creation, prepareCreation } from './creation.js';
import { chargeDeduplication } from './deduplication.js';
import { idempotently } from './idempotently.js';
import { renderAgain } from './render-again.js';

/** One token to create, and where in the request its fields stand. */
export type TokenizePart = {
  readonly request: TokenRequest;
  /** The path of the create request, or of the value that becomes a token. */
  readonly path: string;
  /** A value by itself: whatever is wrong is wrong at its path. */
  readonly isValue: boolean;
};

/**
 * Creates all tokens or none, and answers them in order (docs/contract.md, "Tokenize"). Everything is checked before
 * anything is
 * stored; then all are stored by one unit of work.
 */
export async function tokenize(
  vault: Vault,
  context: CommandContext,
  parts: readonly TokenizePart[],
): Promise<CommandResult<readonly TokenAnswer[]>> {
  const tenantKeys = await tenantKeysOf(vault, context.caller.tenantId);
  const run = async (cmd: string | null): Promise<CommandResult<readonly TokenAnswer[]>> => {
    const creations = await prepareAll(vault, context, tenantKeys, parts);
    if (!creations.ok) return creations;
    const distinct = creations.value.filter((creation) => creation.distinct);
    const values = new Set(distinct.map(({ fingerprintHash }) => fingerprintHash));
    const charged = await chargeDeduplication(vault, context.caller, values.size);
    if (!charged.ok) return charged;
    const created = await createTogether(vault, { context, tenantKeys, cmd }, creations.value);
    if (!created.ok) return created.index === null ? created.rejected : placed(created.rejected, parts[created.index]);
    const misses = created.answers.filter(
      ({ recordedAs }, index) => recordedAs === 'create' && creations.value[index]?.distinct === true,
    );
    charged.hits(values.size - misses.length);
    return done(created.answers);
  };
  return idempotently(vault, tenantKeys, context, run, (result) => renderAllAgain(vault, context, parts, result));
}

/** What is invalid is told of all parts; only then what is forbidden. */
async function prepareAll(
  vault: Vault,
  context: CommandContext,
  tenantKeys: TenantKeys,
  parts: readonly TokenizePart[],
): Promise<CommandResult<readonly Creation[]>> {
  const creations: Creation[] = [];
  let errors: FieldErrors = {};
  let refused: Rejected | null = null;
  const work = vault.turns.begin(context.caller.tenantId);
  for (const part of parts) {
    const prepared = await prepareCreation(vault, context, tenantKeys, part.request, work);
    if (prepared.ok) creations.push(prepared.value);
    else if (prepared.code === 'validation_failed') errors = { ...errors, ...placed(prepared, part).errors };
    else refused ??= prepared;
  }
  if (Object.keys(errors).length > 0) return invalidFields(errors);
  return refused ?? done(creations);
}

function placed({ code, errors }: Rejected, part: TokenizePart | undefined): Rejected {
  if (errors === undefined || part === undefined) return rejected(code);
  if (!part.isValue) return { ok: false, code, errors: errorsUnder(part.path, errors) };
  const messages = Object.values(errors).flat();
  return { ok: false, code, errors: { [part.path === '' ? 'body' : part.path]: messages } };
}

/** The shape comes from the repeated body, so it must have as many places as the first had tokens. */
async function renderAllAgain(
  vault: Vault,
  context: CommandContext,
  parts: readonly TokenizePart[],
  { tokens }: ClaimResult,
): Promise<CommandResult<readonly TokenAnswer[]>> {
  if (tokens.length !== parts.length) return rejected('idempotent_shape_differs');
  const answers: TokenAnswer[] = [];
  for (const token of tokens) {
    const answer = await renderAgain(vault, context, 'create', token);
    if (!answer.ok) return answer;
    answers.push(answer.value);
  }
  return done(answers);
}
