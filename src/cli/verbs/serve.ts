import type { Command } from 'commander';
import { settingPaths } from '../../compose/config/settings.js';
import { configOf, withSettings } from '../options.js';

/** `strongroom serve`. */
export function addServe(program: Command): void {
  withSettings(program.command('serve'), settingPaths)
    .description('serve the vault over HTTP until SIGTERM')
    .addHelpText(
      'after',
      `
Examples:
  strongroom serve --dev
  strongroom serve --data /var/lib/strongroom --root-key-file /etc/strongroom/root.key`,
    )
    .action(async (options: Readonly<Record<string, unknown>>) => {
      // No other verb needs what serves HTTP.
      const { serve } = await import('../serve/serve.js');
      await serve(configOf(options));
    });
}
