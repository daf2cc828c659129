import type { Command } from 'commander';
import { applicationKey } from '../application-key.js';
import { encrypterFor } from '../bulk/age-keys.js';
import { runExport } from '../bulk/run-export.js';
import { Failure } from '../failure.js';
import { configOf } from '../options.js';
import { runOperations } from '../run-verb.js';
import { type TokenVerbOptions, tokenVerb } from './token-verb.js';

type Options = TokenVerbOptions & {
  readonly out: string;
  readonly recipient: readonly string[];
  readonly recipientFile: readonly string[];
  readonly plaintext?: boolean;
};

/** `strongroom tokens export`. */
export function addTokensExport(tokens: Command): void {
  tokenVerb(tokens, 'export', 'print progress and the summary as lines of JSON')
    .description('write all tokens that the application may see in clear to a file that `tokens import` takes')
    .requiredOption('--out <file>', 'a new file (- for standard output, if that is no terminal)')
    .option('--recipient <age1...>', 'seal it to this age recipient; may be given several times', collect, [])
    .option('--recipient-file <file>', 'seal it to the age recipients in this file, one a line', collect, [])
    .option('--plaintext', 'write it in clear')
    .addHelpText(
      'after',
      `
Verification codes of cards are not in it: they live for an hour at most.

Examples:
  strongroom tokens export --out backup.age --recipient-file backup.recipient --key-file backup.key
  strongroom tokens export --out - --plaintext | gpg --encrypt --recipient backup > backup.gpg`,
    )
    .action(async (options: Options) => {
      const { out, recipient, recipientFile, plaintext = false, keyFile, json = false } = options;
      const isSealed = recipient.length + recipientFile.length > 0;
      if (isSealed === plaintext) {
        throw new Failure(
          'say how to write it: sealed with --recipient age1… or --recipient-file FILE, or in clear with --plaintext.',
          2,
        );
      }
      if ([keyFile, ...recipientFile].filter((name) => name === '-').length > 1) {
        throw new Failure('only one of --key-file and --recipient-file can be read from standard input.', 2);
      }
      if (out === '-' && process.stdout.isTTY) {
        throw new Failure('standard output is a terminal. Name a file with --out, or pipe it on.', 2);
      }
      const encrypter = isSealed ? await encrypterFor(recipient, recipientFile) : null;
      const config = configOf(options);
      const key = await applicationKey(keyFile, config.settings.data);
      await runOperations(config, (run) => runExport(run, { key, out, encrypter, json }));
    });
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
