import type { Command } from 'commander';
import { storeSettings, withSettings } from './options.js';

/** Options of every verb that acts as an application. */
export type TokenVerbOptions = { readonly apiKeyFile?: string; readonly json?: boolean };

/** A verb of `strongroom tokens`, which acts as the application whose key is named. */
export function tokenVerb(tokens: Command, nameAndArguments: string, json = 'print one line of JSON'): Command {
  return withSettings(tokens.command(nameAndArguments), storeSettings)
    .option(
      '--api-key-file <file>',
      'file with the application key (- for standard input; default: the key that --dev made)',
    )
    .option('--json', json);
}
