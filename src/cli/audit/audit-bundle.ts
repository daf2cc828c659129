import type { Command } from 'commander';
import { counted } from '../../domain/text.js';
import { applicationKey } from '../application-key.js';
import { Failure } from '../failure.js';
import { configOf } from '../options.js';
import { print } from '../print.js';
import { readInput } from '../read-input.js';
import { runOperations } from '../run-command.js';
import { type TokenCommandOptions, tokenCommand } from '../token-command.js';
import { bundleTokensMax } from './bundle-operations.js';
import { periodOf } from './period.js';
import { writeBundle } from './run-bundle.js';

type Options = TokenCommandOptions & {
  readonly out: string;
  readonly tokens?: string;
  readonly from?: string;
  readonly to?: string;
};

/** Adds the command `strongroom audit bundle`. */
export function addAuditBundle(audit: Command): void {
  tokenCommand(audit, 'bundle [id...]', 'print progress and the summary as lines of JSON')
    .description("write evidence about one person's tokens, or about a period, to a directory for an auditor")
    .option('--tokens <file>', 'a file with the token ids, one per line (- for standard input)')
    .option('--from <time>', 'instead of ids: everything in the tenant since this time')
    .option('--to <time>', 'and before this time')
    .requiredOption('--out <directory>', 'a new directory, readable only by its owner')
    .addHelpText(
      'after',
      `
The directory contains the history, the reads, the erasure statements, the
signed checkpoints with proofs of inclusion, and a program that verifies all of
it with Node.js alone: \`node verify.mjs\`. It contains no values, and nothing
about tokens that are not named. The application needs log:read.

Examples:
  strongroom audit bundle customer-18 --out evidence \\
    --api-key-file management.key
  strongroom audit bundle --from 2026-01-01 --to 2026-02-01 --out january \\
    --api-key-file management.key`,
    )
    .action(async (given: readonly string[], { out, tokens, from, to, ...options }: Options) => {
      const { apiKeyFile, json = false } = options;
      const isPeriod = from !== undefined || to !== undefined;
      const isTokens = given.length > 0 || tokens !== undefined;
      if (isPeriod === isTokens) throw new Failure('specify either token ids or a period with --from and --to.', 2);
      if (isPeriod && (from === undefined || to === undefined)) throw new Failure('a period needs --from and --to.', 2);
      if (tokens === '-' && apiKeyFile === '-') {
        throw new Failure('only one of --tokens and --api-key-file can be read from standard input.', 2);
      }
      const { from: start, to: end } = periodOf(from, to);
      const ids = isPeriod ? null : await idsOf(given, tokens);
      const config = configOf(options);
      const key = await applicationKey(options, config);
      const made = await runOperations(config, (run) =>
        writeBundle(run, { key, ids, from: start, to: end, erasures: 'state', out, json }),
      );
      const { events, reads, erasures } = made;
      const parts = [counted(events, 'event'), counted(reads, 'read'), counted(erasures, 'erasure statement')];
      print({ type: 'summary', ...made }, { json }, () => `wrote ${parts.join(', ')} to ${out}`);
    });
}

async function idsOf(given: readonly string[], file: string | undefined): Promise<readonly string[]> {
  const listed = file === undefined ? [] : (await readInput(file, 'the ids')).split(/\r?\n/);
  const ids = [...new Set([...given, ...listed].filter((id) => id !== ''))];
  if (ids.length === 0)
    throw new Failure('no token ids were given. Pass them as arguments, or in a file with --tokens.', 2);
  if (ids.length > bundleTokensMax) throw new Failure(`a bundle can cover at most ${bundleTokensMax} tokens.`, 2);
  return ids;
}
