import type { Command } from 'commander';
import { storeSettings, withSettings } from './options.js';

/** The options that are common to all commands that run as an application. */
export type TokenCommandOptions = { readonly apiKeyFile?: string; readonly json?: boolean };

/** Adds a command that runs as the API key's application. */
export function tokenCommand(tokens: Command, nameAndArguments: string, json = 'print one line of JSON'): Command {
  return withSettings(tokens.command(nameAndArguments), storeSettings)
    .option(
      '--api-key-file <file>',
      'file with the API key of the application (- for standard input; default: STRONGROOM_API_KEY_FILE, ' +
        'STRONGROOM_API_KEY, or the key that --dev created)',
    )
    .option('--json', json);
}
