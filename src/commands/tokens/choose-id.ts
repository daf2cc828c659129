import { type Checked, type FieldErrors, valid } from '../../domain/field-errors.js';
import type { Steps } from '../../domain/steps.js';
import type { TokenDraft } from '../../domain/token/draft-token.js';
import { rejectEmbeddedValue } from '../../domain/token/fields/embedded-value.js';
import { evaluateId } from '../../domain/token/fields/id.js';
import type { Random } from '../../ports/random.js';
import type { Vault } from '../../vault/vault.js';

/**
 * The number of random aliases to try. If all of them are in use, the token's id is a random UUID (docs/contract.md,
 * "Token ids").
 */
const aliasTriesMax = 10;

/**
 * Returns an id for a new token. `taken` is the number of ids that were tried before for this token and were in use.
 * `random` may be derived from an idempotency key. The last choice is a UUID that is not derived from that key. If a
 * client reuses an idempotency key after its claim was discarded, every derived id is in use, and only this last choice
 * is free.
 */
export function* chooseId(
  vault: Pick<Vault, 'expressions' | 'random'>,
  { id, draft, ownValues }: TokenDraft,
  random: Pick<Random, 'uuid' | 'integer'>,
  taken: number,
): Steps<Checked<string>> {
  if (taken > 0 && taken >= triesMax(id)) return valid(vault.random.uuid());
  const { containers, metadata } = draft;
  for (let drawn = 1; ; drawn += 1) {
    const chosen =
      id === null
        ? valid(random.uuid())
        : yield* evaluateId(vault.expressions, id, draft.data, (max) => random.integer(max));
    if (!chosen.ok) return chosen;
    const own = rejectEmbeddedValue(ownValues, { givenId: id === null ? null : chosen.value, containers, metadata });
    if (own.ok) return chosen;
    // A random alias can contain the token's own value by chance. Such an alias counts as taken, and the next alias is
    // tried.
    if (!isRandom(id) || !concernsId(own.errors)) return own;
    if (drawn === aliasTriesMax) return taken === 0 ? own : valid(vault.random.uuid());
  }
}

/** Returns true if another id can be chosen after `taken` ids for this token were found to be in use. */
export function mayChooseAgain({ id }: TokenDraft, taken: number): boolean {
  return (id === null || isRandom(id)) && taken <= triesMax(id);
}

function triesMax(id: TokenDraft['id']): number {
  return id === null ? 1 : aliasTriesMax;
}

function isRandom(id: TokenDraft['id']): boolean {
  return id?.kind === 'expression' && id.random;
}

function concernsId(errors: FieldErrors): boolean {
  return Object.keys(errors).every((path) => path === 'id');
}
