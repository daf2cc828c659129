import type { Command } from 'commander';
import { printConfig } from '../../compose/config/print-config.js';
import { settingPaths } from '../../compose/config/settings.js';
import { configOf, withSettings } from '../options.js';

/** `strongroom config print`. */
export function addConfig(program: Command): void {
  const config = program.command('config').description('look at the settings');
  withSettings(config.command('print'), settingPaths)
    .description('print each setting, its value and where that comes from; secrets are replaced')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  STRONGROOM_PORT=9000 strongroom config print')
    .action((options: { readonly json?: boolean }) => {
      process.stdout.write(`${printConfig(configOf(options), options.json === true)}\n`);
    });
}
