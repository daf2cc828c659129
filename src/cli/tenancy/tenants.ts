import type { Command } from 'commander';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runCommand } from '../run-command.js';
import { table } from '../table.js';
import { printNewTenant } from './init.js';

/** Adds the commands `strongroom tenants create` and `tenants list`. */
export function addTenants(program: Command): void {
  const tenants = program.command('tenants').description('create and list tenants');
  withSettings(tenants.command('create'), storeSettings)
    .description('create another tenant and its management application')
    .requiredOption('--name <name>', 'name of the tenant')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom tenants create --name "Second shop" --json')
    .action(async (options: { readonly name: string; readonly json?: boolean }) => {
      await printNewTenant(options, () => runCommand(configOf(options), 'tenants-create', { name: options.name }));
    });
  withSettings(tenants.command('list'), storeSettings)
    .description('list all tenants')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom tenants list')
    .action(async (options: { readonly json?: boolean }) => {
      const { tenants: found, damaged } = await runCommand(configOf(options), 'tenants-list', {});
      const rows = found.map(({ tenant_id, name }) => [tenant_id, name]);
      const lines = () => table(['id', 'name'], rows).join('\n');
      const isEmpty = rows.length === 0 && damaged.length === 0;
      print({ tenants: found }, options, () =>
        isEmpty ? 'no tenants yet; create one with `strongroom init`' : lines(),
      );
      if (damaged.length === 0) return;
      const problems = damaged.map(({ id, problem }) => `tenant ${id} is left out: ${problem}`);
      throw new Failure([...problems, 'run `strongroom doctor` to find out what to repair.'].join('\n'));
    });
}
