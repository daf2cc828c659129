import type { Command } from 'commander';
import type { PageAnswer } from '../../http/pagination.js';
import { applicationKey } from '../application-key.js';
import { columns } from '../columns.js';
import { configOf } from '../options.js';
import { print } from '../print.js';
import { runVerb } from '../run-verb.js';
import { wholeNumber } from '../whole-number.js';
import { type TokenVerbOptions, tokenVerb } from './token-verb.js';

type Options = TokenVerbOptions & { readonly page: number; readonly size: number };

/** `strongroom audit history`. */
export function addAuditHistory(audit: Command): void {
  tokenVerb(
    audit,
    'history <id>',
    'print what GET /tokens/{id}/history answers, with what is erased, as one line of JSON',
  )
    .description('what happened to a token, the newest first, never a value; also to one that is deleted')
    .option('--page <number>', 'which page', wholeNumber, 1)
    .option('--size <number>', 'events a page, at most 100', wholeNumber, 100)
    .addHelpText('after', '\nExample:\n  strongroom audit history 4b0e... --key-file management.key')
    .action(async (id: string, { page, size, ...options }: Options) => {
      const config = configOf(options);
      const key = await applicationKey(options.keyFile, config.settings.data);
      const history = await runVerb(config, 'audit-history', { key, id, page, size });
      print(history, options, () => table(history));
    });
}

function table({ pagination, data }: PageAnswer): string {
  const { total_items: total, page_number: page, total_pages: pages } = pagination;
  const rows = data.map(({ created_at, type, actor_id, values, trace_id, changed }) => [
    ...[String(created_at), String(type), String(actor_id), String(values ?? ''), String(trace_id ?? '')],
    Array.isArray(changed) ? changed.join(' ') : '',
  ]);
  const lines = columns([['TIME', 'EVENT', 'ACTOR', 'VALUES', 'TRACE', 'CHANGED'], ...rows]);
  return [...lines, `${total} events${pages > 1 ? `, page ${page} of ${pages}` : ''}`].join('\n');
}
