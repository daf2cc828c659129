import type { Command } from 'commander';
import { type ShownSetting, shownSettings } from '../../compose/config/print-config.js';
import { settingPaths } from '../../compose/config/settings.js';
import { configOf, withSettings } from '../options.js';
import { table } from '../table.js';

/** Adds the command `strongroom config print`. */
export function addConfig(program: Command): void {
  const config = program.command('config').description('show the settings');
  withSettings(config.command('print'), settingPaths)
    .description('print each setting, its value and the source of the value; secrets are hidden')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  STRONGROOM_PORT=9000 strongroom config print')
    .action((options: { readonly json?: boolean }) => {
      const shown = shownSettings(configOf(options));
      const text = options.json === true ? jsonOf(shown) : tableOf(shown);
      process.stdout.write(`${text}\n`);
    });
}

function jsonOf(shown: readonly ShownSetting[]): string {
  return JSON.stringify(Object.fromEntries(shown.map(({ path, ...row }) => [path, row])));
}

function tableOf(shown: readonly ShownSetting[]): string {
  const rows = shown.map(({ path, value, source }) => [path, source, textOf(value)]);
  return table(['setting', 'source', 'value'], rows).join('\n');
}

function textOf(value: unknown): string | null {
  if (value === null || (Array.isArray(value) && value.length === 0)) return null;
  return Array.isArray(value) ? value.join(',') : String(value);
}
