import type { Command } from 'commander';
import { type ProjectionName, projectionNames } from '../../ports/projections.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runCommand, runOperations } from '../run-command.js';
import { table } from '../table.js';
import { confirmRebuild } from './confirm-rebuild.js';
import { descriptions } from './descriptions.js';
import { runRebuild } from './run-rebuild.js';
import { statusJson, statusTable } from './status-text.js';

type JsonOption = { readonly json?: boolean };
type RebuildOptions = JsonOption & {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly acceptNew?: boolean;
};

/** Adds the commands `strongroom projections list`, `status`, `rebuild` and `cancel`. */
export function addProjections(program: Command): void {
  const projections = program
    .command('projections')
    .description('show and rebuild the projections, which are derived from the log');
  projections
    .command('list')
    .description('list the projections')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom projections list')
    .action((options: JsonOption) => {
      const list = projectionNames.map((name) => ({ name, description: descriptions[name] }));
      print({ projections: list }, options, () =>
        table(
          ['name', 'description'],
          list.map(({ name, description }) => [name, description]),
        ).join('\n'),
      );
    });
  withSettings(projections.command('status'), storeSettings)
    .description('show how far each projection has read the log, and the progress of a rebuild')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom projections status --json')
    .action(async (options: JsonOption) => {
      const { projections: statuses } = await runCommand(configOf(options), 'projections-status', {});
      print(statusJson(statuses), options, () => statusTable(statuses));
    });
  withSettings(projections.command('rebuild [name]'), storeSettings)
    .description('rebuild a projection from the log while the vault is in use')
    .option('--all', 'rebuild all projections, one after another')
    .option('--dry-run', 'show what would be done, and change nothing')
    .option('--yes', 'do not ask for confirmation')
    .option('--accept-new', 'use the new rows even if they differ from the old ones')
    .option('--json', 'print progress and the result as lines of JSON')
    .addHelpText('after', rebuildHelp)
    .action(async (name: string | undefined, options: RebuildOptions) => {
      const { all = false, json = false, acceptNew = false, dryRun = false, yes = false } = options;
      if (all === (name !== undefined)) throw new Failure('specify either one projection or --all.', 2);
      const names = name === undefined ? projectionNames : [known(name)];
      await runOperations(configOf(options), async (run) => {
        if (!(await confirmRebuild(run, names, { dryRun, yes, json }))) return;
        for (const each of names) await runRebuild(run, each, { acceptNew, json });
      });
    });
  withSettings(projections.command('cancel <name>'), storeSettings)
    .description('cancel a running rebuild')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom projections cancel tokens')
    .action(async (name: string, options: JsonOption) => {
      const value = await runCommand(configOf(options), 'projections-cancel', { name: known(name) });
      print(value, options, () => `canceled the rebuild of ${name}; its rows are removed`);
    });
}

const rebuildHelp = `
A rebuild of tokens writes new rows beside those in use, compares the two, and
switches to the new rows if they are the same. In the meantime, the service
keeps serving requests. The same command continues an interrupted rebuild.

Examples:
  strongroom projections rebuild tokens --dry-run
  strongroom projections rebuild tokens --yes
  strongroom projections rebuild --all --yes --json`;

function known(name: string): ProjectionName {
  const found = projectionNames.find((each) => each === name);
  if (found !== undefined) return found;
  throw new Failure(
    `there is no projection ${JSON.stringify(name)}. The projections are: ${projectionNames.join(', ')}.`,
    2,
  );
}
