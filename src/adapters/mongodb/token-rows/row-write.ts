import type { RowIndex } from '../../../ports/unit-of-work.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import { keepingUpdate, type RowGeneration, rowOf } from './row-document.js';

/**
 * A row to write. `before` is the stream's revision before the events that changed the row. `at` is the time of the
 * newest of these events, in ms since the epoch.
 */
export type RowWrite = {
  readonly view: Stored<TokenView>;
  readonly index: RowIndex;
  readonly before: number;
  readonly at: number;
};

/**
 * Returns the write operation for one row, with a filter on the stored revision. A complete row replaces any older row,
 * or is inserted if no row exists. If a live row keeps its search terms, the operation updates a stored row only if
 * that row has the revision `before`. A stored row with any other revision can have different search terms.
 */
export function writeOperation({ view, index, before, at }: RowWrite, generation: RowGeneration) {
  const { stream: _id, state } = view;
  if (index === 'keep' && state.life !== null) {
    return { updateOne: { filter: { _id, revision: before }, update: keepingUpdate(view, state.life) } };
  }
  const replacement = rowOf(view, index === 'keep' ? null : index, generation, at);
  return { replaceOne: { filter: { _id, revision: { $lt: state.revision } }, replacement, upsert: true } };
}
