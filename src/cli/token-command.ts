import type { Command } from 'commander';
import { storeSettings, withSettings } from './options.js';

/** The options that all commands that act as an application share. */
export type TokenCommandOptions = { readonly apiKeyFile?: string; readonly json?: boolean };

/** Adds a command that acts as the application that the given API key belongs to. */
export function tokenCommand(tokens: Command, nameAndArguments: string, json = 'print one line of JSON'): Command {
  return withSettings(tokens.command(nameAndArguments), storeSettings)
    .option(
      '--api-key-file <file>',
      'file with the API key of the application (- for standard input; default: STRONGROOM_API_KEY, or the key that --dev made)',
    )
    .option('--json', json);
}
