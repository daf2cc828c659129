import type { Command } from 'commander';
import { type Config, loadConfig } from '../compose/config/config.js';
import { flagName } from '../compose/config/setting.js';
import { type SettingPath, settings } from '../compose/config/settings.js';
import { inLowerCase } from '../domain/text.js';
import { Failure } from './failure.js';

/** The settings that every command on local data accepts. */
export const storeSettings: readonly SettingPath[] = ['profile', 'data', 'root_key_file'];

/**
 * Adds `--config` and a flag for each setting in `paths`. The flag of a boolean setting may omit its value, which is
 * then true. Only commands without arguments of their own accept such settings: an argument after the flag would be
 * its value.
 */
export function withSettings(command: Command, paths: readonly SettingPath[]): Command {
  command.option('--config <file>', 'read settings from this JSON file');
  for (const path of paths) {
    const { form, doc, default: value } = settings[path];
    const shown = typeof value === 'string' || typeof value === 'number' ? ` (default: ${value})` : '';
    command.option(`${flagName(path)} ${form === 'boolean' ? '[boolean]' : `<${form}>`}`, inHelp(doc) + shown);
  }
  return command;
}

/**
 * Returns the description of a setting in the style of the other options: in lower case, and without a period unless it
 * consists of several sentences.
 */
function inHelp(doc: string): string {
  const text = inLowerCase(doc);
  return text.includes('. ') ? text : text.replace(/\.$/, '');
}

/** Loads a command's settings. An invalid setting ends the command with a usage error. */
export function configOf(options: Readonly<Record<string, unknown>>): Config {
  const { config: configFile } = options;
  const loaded = loadConfig({ flags: options, ...(typeof configFile === 'string' ? { configFile } : {}) });
  if (!loaded.ok) throw new Failure(loaded.problems.join('\n'), 2);
  return loaded.config;
}
