import type { Command } from 'commander';
import { applicationKey } from '../application-key.js';
import { Failure } from '../failure.js';
import { encrypterFor, withRecipients } from '../files/age-keys.js';
import { configOf } from '../options.js';
import { runOperations } from '../run-command.js';
import { type TokenCommandOptions, tokenCommand } from '../token-command.js';
import { runExport } from './run-export.js';

type Options = TokenCommandOptions & {
  readonly out: string;
  readonly recipient?: readonly string[];
  readonly recipientFile?: readonly string[];
  readonly plaintext?: boolean;
};

/** Adds the command `strongroom tokens export`. */
export function addTokensExport(tokens: Command): void {
  const command = tokenCommand(tokens, 'export', 'print progress and the summary as lines of JSON')
    .description('write all tokens that the application may see in plaintext to a file for `tokens import`')
    .requiredOption('--out <file>', 'a new file (- for standard output, unless that is a terminal)');
  withRecipients(command, 'it')
    .option('--plaintext', 'write it as plaintext')
    .addHelpText(
      'after',
      `
Card verification codes are not exported. They are kept for at most one hour.

Examples:
  strongroom tokens export --out backup.age --recipient-file backup.recipient \\
    --api-key-file backup.key
  strongroom tokens export --out - --plaintext |
    gpg --encrypt --recipient backup > backup.gpg`,
    )
    .action(async (options: Options) => {
      const { out, recipient = [], recipientFile = [], plaintext = false, apiKeyFile, json = false } = options;
      const isSealed = recipient.length + recipientFile.length > 0;
      if (isSealed === plaintext) {
        throw new Failure(
          'choose the format: encrypted with --recipient age1… or --recipient-file FILE, or plaintext with ' +
            '--plaintext.',
          2,
        );
      }
      if ([apiKeyFile, ...recipientFile].filter((name) => name === '-').length > 1) {
        throw new Failure('only one of --api-key-file and --recipient-file can be read from standard input.', 2);
      }
      if (out === '-' && process.stdout.isTTY) {
        throw new Failure('standard output is a terminal. Write to a file with --out, or pipe the output.', 2);
      }
      const encrypter = isSealed ? await encrypterFor(recipient, recipientFile) : null;
      const config = configOf(options);
      const key = await applicationKey(options, config);
      await runOperations(config, (run) => runExport(run, { key, out, encrypter, json }));
    });
}
