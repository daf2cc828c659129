import type { Command } from 'commander';
import { isMoment } from '../../queries/as-of.js';
import { applicationKey } from '../application-key.js';
import { Failure } from '../failure.js';
import { configOf } from '../options.js';
import { print } from '../print.js';
import { runCommand, runOperations } from '../run-command.js';
import { type TokenCommandOptions, tokenCommand } from '../token-command.js';
import { replayByQuery } from './run-replay.js';

type Options = TokenCommandOptions & {
  readonly asOf: string;
  readonly token?: string;
  readonly query?: string;
  readonly reveal?: boolean;
};

/** Adds the command `strongroom audit replay`. */
export function addAuditReplay(audit: Command): void {
  tokenCommand(audit, 'replay', 'print one line of JSON per token')
    .description('show tokens as they were at a given moment, masked; data erased since then is shown as erased')
    .requiredOption('--as-of <moment>', 'a position in the log, or a date or date-time (2026-01-31T12:00:00Z)')
    .option('--token <id>', 'show the token with this id')
    .option('--query <query>', 'show the tokens that matched this query at that moment')
    .option('--reveal', 'show plaintext where the application may see it')
    .addHelpText(
      'after',
      `
A query reads the whole log up to that moment, and the events of each token
once. It takes about as long as an export. Data that has since been deleted or
replaced, or has expired, is erased and cannot be shown. A token that has
changed since is shown only if the application may see it in plaintext.

Examples:
  strongroom audit replay --as-of 2026-01-31T12:00:00Z --token 4b0e... \\
    --api-key-file support.key
  strongroom audit replay --as-of 4711 --query 'container:/pci/*' --json \\
    --api-key-file support.key`,
    )
    .action(async ({ asOf, token: id, query, reveal = false, ...options }: Options) => {
      if ((id === undefined) === (query === undefined)) {
        throw new Failure('specify either --token ID or --query QUERY.', 2);
      }
      if (!isMoment(asOf)) {
        throw new Failure(
          '--as-of must be a position in the log, which is a whole number from 1, or a date or a date-time, such as ' +
            '2026-01-31T00:00:00Z.',
          2,
        );
      }
      const config = configOf(options);
      const key = await applicationKey(options, config);
      const { json = false } = options;
      if (query !== undefined) {
        return runOperations(config, (run) => replayByQuery(run, { key, asOf, query, reveal, json }));
      }
      const token = await runCommand(config, 'audit-replay', { key, asOf, id, reveal });
      print(token, options, () => JSON.stringify(token, null, 2));
    });
}
