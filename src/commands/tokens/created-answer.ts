import type { Transform } from '../../domain/access/transform.js';
import type { TokenView } from '../../projections/token-view.js';
import type { OpenToken } from '../open-token.js';
import type { Vault } from '../vault.js';
import { type TokenAnswer, tokenAnswer } from './token-answer.js';

/** A token as it is shown to the caller who has just created it. */
export function createdAnswer(vault: Vault, open: OpenToken, view: TokenView, transform: Transform): TokenAnswer {
  const { life } = view.state;
  if (life === null) throw new Error('a created token lives');
  return { ...tokenAnswer(vault, { view, life, open }, transform), recordedAs: 'create' };
}
