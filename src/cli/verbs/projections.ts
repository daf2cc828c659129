import type { Command } from 'commander';
import { type ProjectionName, projectionNames } from '../../ports/projections.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { confirmRebuild } from '../projections/confirm-rebuild.js';
import { descriptions } from '../projections/descriptions.js';
import { runRebuild } from '../projections/run-rebuild.js';
import { statusJson } from '../projections/status-json.js';
import { statusTable } from '../projections/status-table.js';
import { runOperations, runVerb } from '../run-verb.js';

type JsonOption = { readonly json?: boolean };
type RebuildOptions = JsonOption & {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly acceptNew?: boolean;
};

/** `strongroom projections list`, `status`, `rebuild` and `cancel`. */
export function addProjections(program: Command): void {
  const projections = program.command('projections').description('look at what is made from the log, and make it anew');
  projections
    .command('list')
    .description('what is made from the log')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom projections list')
    .action((options: JsonOption) => {
      const list = projectionNames.map((name) => ({ name, description: descriptions[name] }));
      print({ projections: list }, options, () =>
        list.map(({ name, description }) => `${name.padEnd(12)}${description}`).join('\n'),
      );
    });
  withSettings(projections.command('status'), storeSettings)
    .description('how far each has come in the log, and how its rebuild goes')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom projections status --json')
    .action(async (options: JsonOption) => {
      const { projections: statuses } = await runVerb(configOf(options), 'projections-status', {});
      print(statusJson(statuses), options, () => statusTable(statuses));
    });
  withSettings(projections.command('rebuild [name]'), storeSettings)
    .description('make a projection anew from the log while everything goes on')
    .option('--all', 'make all of them anew, one after the other')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--yes', 'do not ask')
    .option('--accept-new', 'take the new rows into use even when they differ from the old ones')
    .option('--json', 'print progress and the result as lines of JSON')
    .addHelpText('after', rebuildHelp)
    .action(async (name: string | undefined, options: RebuildOptions) => {
      const { all = false, json = false, acceptNew = false, dryRun = false, yes = false } = options;
      if (all === (name !== undefined)) throw new Failure('name one projection, or all of them with --all.', 2);
      const names = name === undefined ? projectionNames : [known(name)];
      await runOperations(configOf(options), async (run) => {
        if (!(await confirmRebuild(run, names, { dryRun, yes, json }))) return;
        for (const each of names) await runRebuild(run, each, { acceptNew, json });
      });
    });
  withSettings(projections.command('cancel <name>'), storeSettings)
    .description('take back a rebuild that is under way')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom projections cancel tokens')
    .action(async (name: string, options: JsonOption) => {
      const value = await runVerb(configOf(options), 'projections-cancel', { name: known(name) });
      print(value, options, () => `cancelled; nothing is left of the rebuild of ${name}`);
    });
}

const rebuildHelp = `
The rows of tokens are made beside those that are read, compared with them, and read instead when they are the same. A
service goes on serving meanwhile. What was killed or interrupted goes on with the same command.

Examples:
  strongroom projections rebuild tokens --dry-run
  strongroom projections rebuild tokens --yes
  strongroom projections rebuild --all --yes --json`;

function known(name: string): ProjectionName {
  const found = projectionNames.find((each) => each === name);
  if (found !== undefined) return found;
  throw new Failure(`there is no projection ${JSON.stringify(name)}. There are: ${projectionNames.join(', ')}.`, 2);
}
