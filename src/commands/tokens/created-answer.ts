import type { Caller } from '../../domain/access/caller.js';
import type { Transform } from '../../domain/access/transform.js';
import { type TokenAnswer, tokenAnswer } from '../../queries/token-answer.js';
import type { OpenToken } from '../../vault/open-token.js';
import type { Vault } from '../../vault/vault.js';
import type { TokenView } from '../../views/token-view.js';

/** Returns a token as its creator sees it: with the fingerprint of what it sent. */
export function createdAnswer(
  vault: Vault,
  caller: Caller,
  open: OpenToken,
  view: TokenView,
  transform: Transform,
): TokenAnswer {
  const { life } = view.state;
  if (life === null) throw new Error('a created token must be live');
  const answer = tokenAnswer(vault, caller, { view, life, open }, transform, { carriesFingerprint: true });
  return { ...answer, recordedAs: 'create' };
}
