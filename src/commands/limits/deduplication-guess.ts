import type { Caller } from '../../domain/access/caller.js';
import { transformFor } from '../../domain/access/decide-access.js';
import type { ReadToken } from '../tokens/read-token.js';
import type { Vault } from '../vault.js';

/** The refusal of a deduplicating request whose caller has guessed too often and could guess again; else null. */
export async function refuseDeduplication({ guesses }: Vault, caller: Caller) {
  // Who may read every token learns nothing from a deduplication that reading would not tell.
  return transformFor(caller, 'token:read', ['/']) === null ? guesses.refusal(caller) : null;
}

/** A deduplication onto a token that the caller may not read tells that its value is there: a guess. */
export async function countDeduplication({ guesses }: Vault, caller: Caller, { open }: ReadToken): Promise<void> {
  if (transformFor(caller, 'token:read', open.content.reveal().containers) === null) await guesses.count(caller, 1);
}
