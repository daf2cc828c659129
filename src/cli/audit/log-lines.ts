import type { ExportLine } from '../../audit/export-line.js';
import type { ChainedPage } from '../../audit/read-chained.js';
import type { RunOperation } from '../run-command.js';
import type { AuditBegin } from './audit-begin.js';

/**
 * Returns the log of the vault with its links, after one position and up to another, page by page. Calls `onForged`
 * for each event that is not authentic, after the lines of its page.
 */
export async function* logLines(
  run: RunOperation,
  after: number,
  upTo: number,
  onForged: (what: string) => void,
): AsyncGenerator<ExportLine> {
  for (let next: number | null = after; next !== null; ) {
    const page: ChainedPage = await run('audit-events', { after: next, upTo });
    yield* page.lines;
    if (page.forged !== null) onForged(page.forged);
    next = page.next;
  }
}

/** Returns what a verification or an export begins with. */
export function beginAudit(run: RunOperation, from: number): Promise<AuditBegin> {
  return run('audit-begin', { from });
}
