import type { RowIndex } from '../../../ports/unit-of-work.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import { keepingUpdate, type RowGeneration, rowOf } from './row-document.js';

/** A row to write. `before`: the revision that its events follow; `at`: the time of the newest, ms since the epoch. */
export type RowWrite = {
  readonly view: Stored<TokenView>;
  readonly index: RowIndex;
  readonly before: number;
  readonly at: number;
};

/**
 * The guarded operation of one row. A whole row replaces any that is older, or takes the place of none. A living row
 * that keeps what it is found by changes only the very row that its events follow: any other was found by something
 * else.
 */
export function writeOperation({ view, index, before, at }: RowWrite, generation: RowGeneration) {
  const { stream: _id, state } = view;
  if (index === 'keep' && state.life !== null) {
    return { updateOne: { filter: { _id, revision: before }, update: keepingUpdate(view, state.life) } };
  }
  const replacement = rowOf(view, index === 'keep' ? null : index, generation, at);
  return { replaceOne: { filter: { _id, revision: { $lt: state.revision } }, replacement, upsert: true } };
}
