import type { Command } from 'commander';
import { storeSettings, withSettings } from './options.js';

/** The options of every command that acts as an application. */
export type TokenVerbOptions = { readonly keyFile?: string; readonly json?: boolean };

/** Adds a command that acts as the application whose key is named. */
export function tokenVerb(tokens: Command, nameAndArguments: string, json = 'print one line of JSON'): Command {
  return withSettings(tokens.command(nameAndArguments), storeSettings)
    .option(
      '--key-file <file>',
      'file with the application key (- for standard input; default: the key that --dev made)',
    )
    .option('--json', json);
}
