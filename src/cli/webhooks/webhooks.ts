import type { Command } from 'commander';
import { parseBound } from '../../domain/time.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runCommand } from '../run-command.js';

type Options = { readonly from: string; readonly tenant?: string; readonly json?: boolean };

/** Adds the command `strongroom webhooks replay`. */
export function addWebhooks(program: Command): void {
  const webhooks = program.command('webhooks').description('deliver events to a webhook again');
  withSettings(webhooks.command('replay'), storeSettings)
    .description('redeliver every event since a given time to a webhook')
    .argument('<id>', 'id of the webhook')
    .requiredOption('--from <time>', 'date or date-time, such as 2026-01-31T12:00:00Z')
    .option('--tenant <id>', "the webhook's tenant; can be omitted if there is only one")
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The service delivers the events in order, with their original webhook-id. If a
token was deleted or has expired since then, its events contain only its
entity_ref, and a webhook with containers does not receive them, because the
containers of the token were erased. access.denied events are not redelivered.

Example:
  strongroom webhooks replay 3b0e8c1c-5a0a-4a54-9d4e-0c2c4f0a9b11 \\
    --from 2026-01-31T12:00:00Z`,
    )
    .action(async (webhookId: string, { from: text, tenant, ...options }: Options) => {
      const from = parseBound(text);
      if (from === null) throw new Failure('--from must be a date or date-time, such as 2026-01-31T12:00:00Z.', 2);
      const input = { tenantId: tenant ?? null, webhookId, from };
      const value = await runCommand(configOf(options), 'webhooks-replay', input);
      const containers = value.has_containers
        ? ' The webhook has containers, so it does not receive the events of tokens that no longer exist.'
        : '';
      const rest = value.enabled ? '' : ' The webhook is disabled; they are delivered when it is enabled.';
      print(value, options, () => `events since ${text} are being redelivered.${containers}${rest}`);
    });
}
