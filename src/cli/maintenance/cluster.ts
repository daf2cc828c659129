import type { Command } from 'commander';
import { Failure } from '../failure.js';
import { configOf, withSettings } from '../options.js';
import { print } from '../print.js';

type Options = {
  readonly eventstoreAdminUrlFile?: string;
  readonly mongodbAdminUrlFile?: string;
  readonly json?: boolean;
};

/** Adds the command `strongroom cluster`. */
export function addCluster(program: Command): void {
  const cluster = program.command('cluster').description('prepare the stores of the cluster profile');
  withSettings(cluster.command('prepare'), ['profile'])
    .description("create or check the vault's users and permissions in EventStoreDB and MongoDB")
    .option(
      '--eventstore-admin-url-file <file>',
      'the file with the address and credentials of an EventStoreDB administrator',
    )
    .option('--mongodb-admin-url-file <file>', 'the file with the address and credentials of a MongoDB administrator')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The users are those in eventstore.url, mongodb.url and mongodb.keys_url. The
administrator addresses are not stored. Run this command before
\`strongroom init\` and after each upgrade: it changes only what differs.

Example:
  strongroom cluster prepare --config cluster.json \\
    --eventstore-admin-url-file secrets/eventstore-admin.url \\
    --mongodb-admin-url-file secrets/mongodb-admin.url`,
    )
    .action(async ({ eventstoreAdminUrlFile, mongodbAdminUrlFile, json = false, ...options }: Options) => {
      const config = configOf({ ...options });
      if (config.settings.profile !== 'cluster')
        throw new Failure('this command needs the cluster profile: set profile to cluster.', 2);
      if (eventstoreAdminUrlFile === undefined && mongodbAdminUrlFile === undefined) {
        throw new Failure('specify --eventstore-admin-url-file, --mongodb-admin-url-file, or both.', 2);
      }
      // We load this module on demand, because the database clients take a long time to load.
      const { prepareCluster } = await import('../../compose/cluster/rights.js');
      const files = { eventstore: eventstoreAdminUrlFile ?? null, mongodb: mongodbAdminUrlFile ?? null };
      const done = await prepareCluster(config, files);
      print({ done: [...done] }, { json }, () => done.join('\n'));
    });
}
