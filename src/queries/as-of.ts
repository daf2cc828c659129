import { parseExpiresAt } from '../domain/time.js';
import type { ClearEvent } from '../events/event.js';
import type { Vault } from '../vault/vault.js';

/**
 * A moment in the log. It is either the moment right after the event at a position, or the moment after all events up
 * to a time.
 */
export type AsOf = {
  readonly by: 'position' | 'time';
  readonly position: number;
  /** The time, in milliseconds since the epoch, that determines which tokens have expired. */
  readonly time: number;
};

export type AsOfResult = { readonly ok: true; readonly asOf: AsOf } | { readonly ok: false; readonly message: string };

const positionText = /^\d{1,15}$/;

/** Returns true if `readAsOf` can parse the text. The moment may still be after the end of the log. */
export function isMoment(text: string): boolean {
  return positionText.test(text) ? Number(text) >= 1 : parseExpiresAt(text) !== null;
}

/**
 * Parses a moment, which is either a position or a time in one of the expiry formats (docs/contract.md, "Expiry
 * formats"). Rejects positions after the end of the log, and times in the future.
 */
export async function readAsOf(
  { log, chain, clock }: Pick<Vault, 'chain' | 'clock' | 'log'>,
  text: string,
): Promise<AsOfResult> {
  if (positionText.test(text)) {
    const position = Number(text);
    const head = await log.head();
    if (position > head) return refused(`position ${position} is after the end of the log (position ${head}).`);
    // There may be gaps between the positions of events, and the log can be read only from the position of an event. A
    // position in a gap is treated as the moment right before the next event.
    await chain.follow();
    const before = await chain.head(position - 1);
    const [event] = await log.readClear(before?.position ?? 0, 1);
    if (position < 1 || event === undefined) return refused('a position must be a whole number from 1.');
    return { ok: true, asOf: { by: 'position', position, time: event.time } };
  }
  const time = parseExpiresAt(text);
  if (time === null) return refused('specify a position, or a date or date-time such as 2026-01-31T12:00:00Z.');
  if (time > clock.now()) return refused('that moment is in the future. Specify an earlier one.');
  return { ok: true, asOf: { by: 'time', position: Number.MAX_SAFE_INTEGER, time } };
}

/** Returns true if an event happened before a moment or exactly at that moment. */
export function hadHappened({ by, position, time }: AsOf, event: Pick<ClearEvent, 'position' | 'time'>): boolean {
  return by === 'position' ? event.position <= position : event.time <= time;
}

function refused(message: string): AsOfResult {
  return { ok: false, message };
}
