import type { Command } from 'commander';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runCommand } from '../run-command.js';

const texts = {
  confirmed: 'the clock is confirmed: data that is due is destroyed from now on.',
  trusted: 'the clock was already trusted: nothing was held back.',
  cluster:
    'in a cluster, there is nothing to confirm: a process destroys data that is due once its clock agrees with ' +
    "MongoDB's. Correct the clock that is wrong.",
} as const;

/** Adds the command `strongroom clock`. */
export function addClock(program: Command): void {
  const clock = program.command('clock').description('confirm the clock of this machine');
  withSettings(clock.command('confirm'), storeSettings)
    .description('confirm that the clock is right, after the vault found it far from the last recorded time')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Until you confirm the clock, or for at most 24 hours, the vault hides expired
data but does not destroy it. Compare the clock with another one first: if it is
wrong, confirming it destroys data too early. The command works whether or not
the service is running.

Example:
  strongroom clock confirm --data /var/lib/strongroom \\
    --root-key-file /etc/strongroom/root.key`,
    )
    .action(async ({ json = false, ...options }: { readonly json?: boolean }) => {
      const { was } = await runCommand(configOf({ ...options }), 'clock-confirm', {});
      print({ was }, { json }, () => texts[was]);
    });
}
