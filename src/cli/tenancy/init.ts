import type { Command } from 'commander';
import { parseName } from '../../domain/tenancy/parse-directory.js';
import { Failure } from '../failure.js';
import { fieldErrorText } from '../operations/field-error-text.js';
import type { Answers } from '../operations.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runCommand } from '../run-command.js';

/** Adds the command `strongroom init`. */
export function addInit(program: Command): void {
  withSettings(program.command('init'), storeSettings)
    .description('create the first tenant and its management application')
    .option('--name <name>', 'name of the tenant', 'default')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Example:
  strongroom keys generate-root /etc/strongroom/root.key
  strongroom init --data /var/lib/strongroom \\
    --root-key-file /etc/strongroom/root.key`,
    )
    .action(async (options: { readonly name: string; readonly json?: boolean }) => {
      // The operation checks the name again, but before that, it creates the stores.
      const name = parseName(options.name);
      if (!name.ok) throw new Failure(fieldErrorText(name.errors), 2);
      const value = await runCommand(configOf(options), 'init', { name: options.name });
      print(value, options, () => createdTenantText(value));
    });
}

/** Returns the message that shows the operator the id and the management key of a new tenant. */
export function createdTenantText(created: Answers['init']): string {
  return `tenant ${created.tenant_id}\nmanagement key, shown only once: ${created.management_key}`;
}
