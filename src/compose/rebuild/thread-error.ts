import { UnreadableEvent } from '../../events/tokens/catalogue.js';
import { ForgedLog } from '../../ports/event-log.js';
import { StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { ForgedRow } from '../../vault/forged-row.js';
import { KeyLost, type LostKey } from '../../vault/key-lost.js';

/** An error in a form that threads can exchange. It contains no text that could quote data. */
export type ThreadError =
  | { readonly is: 'key_lost'; readonly stream: string; readonly what: LostKey }
  | { readonly is: 'forged_row'; readonly row: ForgedRow['row']; readonly what: ForgedRow['what'] }
  | { readonly is: 'unavailable'; readonly store: string; readonly reason: string }
  | { readonly is: 'forged'; readonly what: string }
  | { readonly is: 'unreadable'; readonly event: UnreadableEvent['event']; readonly reason: string }
  | { readonly is: 'problem'; readonly problem: string }
  | { readonly is: 'unforeseen'; readonly name: string };

class RebuildProblem extends StoreProblem {}

export function toThreadError(error: unknown): ThreadError {
  if (error instanceof KeyLost) return { is: 'key_lost', stream: error.stream, what: error.what };
  if (error instanceof ForgedRow) return { is: 'forged_row', row: error.row, what: error.what };
  if (error instanceof StoreUnavailable) return { is: 'unavailable', store: error.store, reason: error.reason };
  if (error instanceof ForgedLog) return { is: 'forged', what: error.what };
  if (error instanceof UnreadableEvent) return { is: 'unreadable', event: error.event, reason: error.reason };
  if (error instanceof StoreProblem) return { is: 'problem', problem: error.message };
  return { is: 'unforeseen', name: error instanceof Error ? error.name : 'not an error' };
}

export function fromThreadError(error: ThreadError): Error {
  if (error.is === 'key_lost') return new KeyLost(error.stream, error.what);
  if (error.is === 'forged_row') return new ForgedRow(error.row, error.what);
  if (error.is === 'unavailable') return new StoreUnavailable(error.store, error.reason);
  if (error.is === 'forged') return new ForgedLog(error.what);
  if (error.is === 'unreadable') return new UnreadableEvent(error.event, error.reason);
  if (error.is === 'problem') return new RebuildProblem(error.problem);
  return new Error(`the rebuild thread failed: ${error.name}`);
}
