import type { Command } from 'commander';
import { managementPermissions } from '../../domain/access/permission.js';
import { parseName } from '../../domain/tenancy/parse-directory.js';
import { Failure } from '../failure.js';
import { fieldErrorText } from '../operations/field-error-text.js';
import type { Answers } from '../operations.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { printNewKey } from '../print.js';
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
      await printNewTenant(options, () => runCommand(configOf(options), 'init', { name: options.name }));
    });
}

/** Creates a tenant, and prints its id and its management key. */
export function printNewTenant(
  options: { readonly json?: boolean },
  create: () => Promise<Answers['init']>,
): Promise<void> {
  return printNewKey(
    options,
    create,
    ({ tenant_id: id, management_key: key }) => `tenant ${id}\nmanagement key, shown only once: ${key}`,
    ({ tenant_id: id }) =>
      `tenant ${id} was created, but its management key could not be printed. To get another management key, run:\n` +
      `  strongroom applications create --tenant ${id} --type management \\\n` +
      `    --name management --permissions ${managementPermissions.join(',')}\n` +
      'Then use this key to delete the other management application (`DELETE /applications/{id}`).',
  );
}
