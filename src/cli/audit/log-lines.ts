import type { ExportLine } from '../../audit/export-line.js';
import type { ChainedPage } from '../../audit/read-chained.js';
import type { RunOperation } from '../run-command.js';
import type { AuditBegin } from './audit-begin.js';

/**
 * Returns the vault's log with its links, from `after` (exclusive) to `upTo` (inclusive). Reads it page by page. After
 * the lines of a page that contains a forged event, calls `onForged`.
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

/** Returns the data that a log verification or export starts from. */
export function beginAudit(run: RunOperation, from: number): Promise<AuditBegin> {
  return run('audit-begin', { from });
}
