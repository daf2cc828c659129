import type { Command } from 'commander';
import { applicationKey } from '../application-key.js';
import { openImport } from '../bulk/open-import.js';
import { runImport } from '../bulk/run-import.js';
import { Failure } from '../failure.js';
import { configOf } from '../options.js';
import { runOperations } from '../run-verb.js';
import { type TokenVerbOptions, tokenVerb } from './token-verb.js';

type Options = TokenVerbOptions & {
  readonly strict?: boolean;
  readonly resumeFile?: string;
  readonly identityFile?: string;
};

/** `strongroom tokens import`. */
export function addTokensImport(tokens: Command): void {
  tokenVerb(tokens, 'import <file>', 'print progress, failed lines and the summary as lines of JSON')
    .description('create a token for each line of a file (- for standard input), each a request as for POST /tokens')
    .option('--strict', 'import nothing after the first bad line')
    .option(
      '--resume-file <file>',
      'where the secret is kept that lines without an id get theirs from (default: FILE.resume)',
    )
    .option('--identity-file <file>', 'age identity that opens a sealed file (- for standard input)')
    .addHelpText(
      'after',
      `
A second run of the same file skips what is there, so an import that was cut off goes on with the same command.

Examples:
  strongroom tokens import customers.ndjson --key-file importer.key
  strongroom tokens import backup.age --identity-file backup.identity --key-file importer.key --json`,
    )
    .action(async (file: string, options: Options) => {
      const { keyFile, identityFile, json = false, strict = false } = options;
      if ([file, keyFile, identityFile].filter((name) => name === '-').length > 1) {
        throw new Failure('only one of FILE, --key-file and --identity-file can be read from standard input.', 2);
      }
      const config = configOf(options);
      const key = await applicationKey(keyFile, config.settings.data);
      const resumeFile = options.resumeFile ?? (file === '-' ? null : `${file}.resume`);
      const input = await openImport(file, identityFile);
      try {
        await runOperations(config, (run) => runImport(run, input, { key, strict, json, resumeFile }));
      } finally {
        input.stop();
      }
    });
}
