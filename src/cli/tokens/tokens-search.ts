import type { Command } from 'commander';
import { counted } from '../../domain/text.js';
import { Failure } from '../failure.js';
import type { Answers } from '../operations.js';
import { pageText } from '../page-text.js';
import { print } from '../print.js';
import { readInput } from '../read-input.js';
import { table } from '../table.js';
import { tokenTargetOf, withAddress } from '../target.js';
import { type TokenCommandOptions, tokenCommand } from '../token-command.js';
import { pageSize, wholeNumber } from '../whole-number.js';

type Options = TokenCommandOptions & { readonly page: number; readonly size: number };

/** Adds the command `strongroom tokens search`. */
export function addTokensSearch(tokens: Command): void {
  withAddress(tokenCommand(tokens, 'search <query>', 'print the response of POST /tokens/search as one line of JSON'))
    .description('list the tokens that match a query, newest first (- reads the query from standard input)')
    .option('--page <number>', 'page number', wholeNumber, 1)
    .option('--size <number>', 'tokens per page, at most 100', pageSize, 20)
    .addHelpText(
      'after',
      `
Examples:
  strongroom tokens search 'type:card AND container:/pci/*' --size 50 \\
    --api-key-file support.key
  echo 'data:"123-45-6789"' |
    strongroom tokens search - --json --api-key-file support.key`,
    )
    .action(async (given: string, options: Options) => {
      const { apiKeyFile, page, size } = options;
      if (given === '-' && apiKeyFile === '-') {
        throw new Failure('only one of the query and --api-key-file can be read from standard input.', 2);
      }
      const target = await tokenTargetOf(options);
      const query = given === '-' ? (await readInput('-', 'the query')).trim() : given;
      const found = await target.searchTokens({ query, page, size });
      print(found, options, () => foundText(found));
    });
}

/** Returns a table with the id, type, creation time and containers of each token. Only `--json` prints token data. */
function foundText({ pagination, data, _suggestions: meant = [] }: Answers['tokens-search']): string {
  const { total_items: total, page_number: page, total_pages: pages } = pagination;
  const rows = data.map(({ id, type, created_at, containers }) => [
    String(id),
    String(type),
    String(created_at),
    Array.isArray(containers) ? containers.join(' ') : '',
  ]);
  const count = `${counted(total, 'token')} found${pageText(page, pages)}`;
  if (data.length > 0) return [...table(['id', 'type', 'created', 'containers'], rows), count].join('\n');
  return meant.length === 0 ? count : `${count}; did you mean ${meant.join(' or ')}?`;
}
