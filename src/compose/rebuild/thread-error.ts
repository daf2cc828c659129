import { UnreadableEvent } from '../../events/read-clear.js';
import { ForgedLog } from '../../ports/event-log.js';
import { type FoundProblem, StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { ForgedRow } from '../../vault/forged-row.js';
import { KeyLost, type LostKey } from '../../vault/key-lost.js';

/** An error in a form that threads can exchange. It contains no text that could quote data. */
export type ThreadError =
  | { readonly kind: 'key_lost'; readonly stream: string; readonly what: LostKey }
  | { readonly kind: 'forged_row'; readonly row: ForgedRow['row']; readonly what: ForgedRow['what'] }
  | {
      readonly kind: 'unavailable';
      readonly store: string;
      readonly reason: string;
      readonly found: FoundProblem | null;
    }
  | { readonly kind: 'forged'; readonly what: string }
  | { readonly kind: 'unreadable'; readonly event: UnreadableEvent['event']; readonly reason: string }
  | { readonly kind: 'problem'; readonly problem: string | FoundProblem }
  | { readonly kind: 'unforeseen'; readonly name: string };

export function toThreadError(error: unknown): ThreadError {
  if (error instanceof KeyLost) return { kind: 'key_lost', stream: error.stream, what: error.what };
  if (error instanceof ForgedRow) return { kind: 'forged_row', row: error.row, what: error.what };
  if (error instanceof StoreUnavailable) {
    return { kind: 'unavailable', store: error.store, reason: error.reason, found: error.found };
  }
  if (error instanceof ForgedLog) return { kind: 'forged', what: error.what };
  if (error instanceof UnreadableEvent) return { kind: 'unreadable', event: error.event, reason: error.reason };
  if (error instanceof StoreProblem) return { kind: 'problem', problem: error.found ?? error.message };
  return { kind: 'unforeseen', name: error instanceof Error ? error.name : 'not an error' };
}

export function fromThreadError(error: ThreadError): Error {
  if (error.kind === 'key_lost') return new KeyLost(error.stream, error.what);
  if (error.kind === 'forged_row') return new ForgedRow(error.row, error.what);
  if (error.kind === 'unavailable') return new StoreUnavailable(error.store, error.reason, error.found);
  if (error.kind === 'forged') return new ForgedLog(error.what);
  if (error.kind === 'unreadable') return new UnreadableEvent(error.event, error.reason);
  if (error.kind === 'problem') return new StoreProblem(error.problem);
  return new Error(`the rebuild thread failed: ${error.name}`);
}
