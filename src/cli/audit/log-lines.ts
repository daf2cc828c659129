import type { ExportLine } from '../../audit/export-line.js';
import type { ChainedPage } from '../../audit/read-chained.js';
import type { RunOperation } from '../run-command.js';
import type { AuditBegin } from './audit-begin.js';

/**
 * Returns the vault's log with its links, from one position (exclusive) to another (inclusive), page by page. Calls
 * `onForged` for each event that is not authentic, after the lines of its page.
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

/** Returns the data that a verification or an export starts from. */
export function beginAudit(run: RunOperation, from: number): Promise<AuditBegin> {
  return run('audit-begin', { from });
}
