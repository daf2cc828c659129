import type { Command } from 'commander';
import { counted } from '../../domain/text.js';
import type { PageAnswer } from '../../http/pagination.js';
import { applicationKey } from '../application-key.js';
import { configOf } from '../options.js';
import { pageText } from '../page-text.js';
import { print } from '../print.js';
import { runCommand } from '../run-command.js';
import { table } from '../table.js';
import { type TokenCommandOptions, tokenCommand } from '../token-command.js';
import { pageSize, wholeNumber } from '../whole-number.js';

type Options = TokenCommandOptions & { readonly page: number; readonly size: number };

/** Adds the command `strongroom audit history`. */
export function addAuditHistory(audit: Command): void {
  tokenCommand(
    audit,
    'history <id>',
    'print the response of GET /tokens/{id}/history, with what is erased, as one line of JSON',
  )
    .description('show what happened to a token, even a deleted one, newest first and without its data')
    .option('--page <number>', 'page number', wholeNumber, 1)
    .option('--size <number>', 'events per page, at most 100', pageSize, 100)
    .addHelpText('after', '\nExample:\n  strongroom audit history 4b0e... --api-key-file management.key')
    .action(async (id: string, { page, size, ...options }: Options) => {
      const config = configOf(options);
      const key = await applicationKey(options, config);
      const history = await runCommand(config, 'audit-history', { key, id, page, size });
      print(history, options, () => historyText(history));
    });
}

function historyText({ pagination, data }: PageAnswer): string {
  const { total_items: total, page_number: page, total_pages: pages } = pagination;
  const rows = data.map(({ created_at, type, actor_id, values, trace_id, changed }) => [
    String(created_at),
    String(type),
    String(actor_id),
    String(values ?? ''),
    String(trace_id ?? ''),
    Array.isArray(changed) ? changed.join(' ') : '',
  ]);
  const lines = table(['time', 'event', 'actor', 'values', 'trace', 'changed'], rows);
  return [...lines, `${counted(total, 'event')}${pageText(page, pages)}`].join('\n');
}
