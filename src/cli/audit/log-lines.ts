import type { ExportLine } from '../../audit/export-line.js';
import type { ChainedPage } from '../../audit/read-chained.js';
import type { RunOperation } from '../run-command.js';
import type { AuditBegin } from './audit-begin-operation.js';

/**
 * Yields the lines of the vault's log with their links, from `after` (exclusive) to `upTo` (inclusive). Reads the log
 * page by page. If a page contains a forged event, first yields the lines of that page and then calls `onForged`. If an
 * event is so malformed that no line can contain it, calls `onUnreadable` and ends before that event.
 */
export async function* logLines(
  run: RunOperation,
  after: number,
  upTo: number,
  onForged: (what: string) => void,
  onUnreadable: (what: string) => void,
): AsyncGenerator<ExportLine> {
  for (let next: number | null = after; next !== null; ) {
    const page: ChainedPage = await run('audit-events', { after: next, upTo });
    yield* page.lines;
    if (page.forged !== null) onForged(page.forged);
    if (page.unreadable !== null) onUnreadable(page.unreadable);
    next = page.next;
  }
}

/**
 * Returns the data with which a verification or export of the log begins. An export is recorded in the access log,
 * because its file contains the access log.
 */
export function beginAudit(
  run: RunOperation,
  from: number,
  { exports }: { readonly exports: boolean },
): Promise<AuditBegin> {
  return run('audit-begin', { from, exports });
}
