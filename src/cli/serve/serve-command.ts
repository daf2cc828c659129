import type { Command } from 'commander';
import { environmentName } from '../../compose/config/setting.js';
import { settingPaths } from '../../compose/config/settings.js';
import { configOf, withSettings } from '../options.js';

/** How long the process may live on after a failed start, in ms. In this time, it prints the error. */
const exitMs = 500;

/** Adds the command `strongroom serve`. */
export function addServe(program: Command): void {
  withSettings(program.command('serve'), settingPaths)
    .description('serve the vault over HTTP until SIGTERM')
    .addHelpText(
      'after',
      `
Each setting can come from an environment variable instead:
${settingPaths.map((path) => `  ${environmentName(path)}`).join('\n')}

Examples:
  strongroom serve --dev
  strongroom serve --data /var/lib/strongroom \\
    --root-key-file /etc/strongroom/root.key`,
    )
    .action(async (options: Readonly<Record<string, unknown>>) => {
      // We load this module on demand, because only this command needs the HTTP server.
      const { serve } = await import('./serve.js');
      try {
        await serve(configOf(options));
      } catch (error) {
        // Anything that the failed start left open must not keep the process alive: it would look like a service.
        setTimeout(() => process.exit(), exitMs).unref();
        throw error;
      }
    });
}
