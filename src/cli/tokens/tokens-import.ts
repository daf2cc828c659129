import type { Command } from 'commander';
import { applicationKey } from '../application-key.js';
import { Failure } from '../failure.js';
import { openImport } from '../files/open-import.js';
import { configOf } from '../options.js';
import { runOperations } from '../run-command.js';
import { type TokenCommandOptions, tokenCommand } from '../token-command.js';
import { runImport } from './run-import.js';

type Options = TokenCommandOptions & {
  readonly strict?: boolean;
  readonly resumeFile?: string;
  readonly identityFile?: string;
};

/** Adds the command `strongroom tokens import`. */
export function addTokensImport(tokens: Command): void {
  tokenCommand(tokens, 'import <file>', 'print progress, failed lines and the summary as lines of JSON')
    .description(
      'create a token for each line of a file (- for standard input); each line is a request as for POST /tokens',
    )
    .option('--strict', 'stop at the first line that fails')
    .option(
      '--resume-file <file>',
      'file with the secret from which ids are derived for lines without one (default: FILE.resume)',
    )
    .option('--identity-file <file>', 'age identity that decrypts an encrypted file (- for standard input)')
    .addHelpText(
      'after',
      `
A second run with the same file skips tokens that already exist, so the same
command continues an import that was interrupted.

Examples:
  strongroom tokens import customers.ndjson --api-key-file importer.key
  strongroom tokens import backup.age --identity-file backup.identity \\
    --api-key-file importer.key --json`,
    )
    .action(async (file: string, options: Options) => {
      const { apiKeyFile, identityFile, json = false, strict = false } = options;
      if ([file, apiKeyFile, identityFile].filter((name) => name === '-').length > 1) {
        throw new Failure('only one of FILE, --api-key-file and --identity-file can be read from standard input.', 2);
      }
      const config = configOf(options);
      const key = await applicationKey(options, config);
      const resumeFile = options.resumeFile ?? (file === '-' ? null : `${file}.resume`);
      const input = await openImport(file, identityFile);
      try {
        await runOperations(config, (run) => runImport(run, input, { key, strict, json, resumeFile }));
      } finally {
        input.stop();
      }
    });
}
