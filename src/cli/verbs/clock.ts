import type { Command } from 'commander';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runVerb } from '../run-verb.js';

const texts = {
  confirmed: 'the clock is confirmed: what is due is destroyed from now on.',
  trusted: 'the clock was trusted already: nothing was held back.',
  cluster:
    "in a cluster nothing can be confirmed: a process destroys what is due when MongoDB's clock and its own agree. Correct " +
    'the one that is wrong.',
} as const;

/** `strongroom clock`. */
export function addClock(program: Command): void {
  const clock = program.command('clock').description('what the vault makes of the clock of this machine');
  withSettings(clock.command('confirm'), storeSettings)
    .description('say that the clock is right, after the vault found it far from the time that it recorded')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Until then the vault hides what is due and destroys nothing, for 24 hours. It works while the service runs and while it does
not. Compare the clock with another one first: what is due by a wrong clock is lost.

Example:
  strongroom clock confirm --data /var/lib/strongroom --root-key-file /etc/strongroom/root.key`,
    )
    .action(async ({ json = false, ...options }: { readonly json?: boolean }) => {
      const { was } = await runVerb(configOf({ ...options }), 'clock-confirm', {});
      print({ was }, { json }, () => texts[was]);
    });
}
