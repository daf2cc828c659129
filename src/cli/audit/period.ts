import { parseBound } from '../../domain/time.js';
import { Failure } from '../failure.js';

/**
 * Parses `--from` and `--to`. Returns each as ms since the epoch, or as null if the option is absent. Throws Failure if
 * a value is invalid.
 */
export function periodOf(from: string | undefined, to: string | undefined) {
  const period = { from: timeOf('--from', from), to: timeOf('--to', to) };
  if (period.from !== null && period.to !== null && period.to <= period.from) {
    throw new Failure('--to must be after --from.', 2);
  }
  return period;
}

function timeOf(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = parseBound(text);
  if (ms === null) throw new Failure(`${option} must be a date or a date-time, such as 2026-01-31T00:00:00Z.`, 2);
  return ms;
}
