import type { Command } from 'commander';
import { controlSocketPath, serviceMayListen } from '../../compose/embedded/control-socket.js';
import { dataDirectoryOf } from '../../compose/open-profile.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { runCommand } from '../run-command.js';

/** Adds the commands `strongroom console …`. */
export function addConsole(program: Command): void {
  const group = program.command('console').description('sign in to the console, the web interface');
  withSettings(group.command('sign-in'), storeSettings)
    .description('print a code that an operator uses to sign in to the console')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\n' +
        'The code is valid for five minutes and for one sign-in.\n' +
        '\n' +
        'Example:\n' +
        '  strongroom console sign-in --data /var/lib/strongroom',
    )
    .action(async (options: { readonly json?: boolean }) => {
      const config = configOf(options);
      const dataDir = dataDirectoryOf(config);
      const socketPath = dataDir === null ? null : controlSocketPath(dataDir);
      // In the embedded profile, one-time codes exist only in the memory of the process that serves the console, so a
      // service must be running.
      if (dataDir !== null && (socketPath === null || !(await serviceMayListen(socketPath)))) {
        throw new Failure(
          `no service is running on ${dataDir}. Start it with \`strongroom serve\`, or set --data to its directory.`,
        );
      }
      const value = await runCommand(config, 'console-sign-in', {});
      // In the cluster profile, the command cannot see which processes serve a console.
      if (dataDir === null && config.settings['console.enabled'] !== true) {
        process.stderr.write(
          'These settings do not turn the console on. The code works only if a process of the cluster has ' +
            'console.enabled.\n',
        );
      }
      print(
        value,
        options,
        () => `${value.code}\nEnter this code as the operator code on the sign-in page within five minutes.`,
      );
    });
}
