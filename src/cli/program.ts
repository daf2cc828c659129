import { closeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { Command, CommanderError } from 'commander';
import { loggedError } from '../http/logging/logged-error.js';
import { StoreProblem } from '../ports/store-problem.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import { addAudit } from './audit/audit.js';
import { addBackup } from './backup/backup.js';
import { addConsole } from './console/console.js';
import { addDoctor } from './doctor/doctor.js';
import { Failure } from './failure.js';
import { addKeys } from './keys/keys.js';
import { addClock } from './maintenance/clock.js';
import { addCluster } from './maintenance/cluster.js';
import { addConfig } from './maintenance/config.js';
import { writeError } from './print.js';
import { productVersion } from './product-version.js';
import { addProjections } from './projections/projections.js';
import { addServe } from './serve/serve-command.js';
import { storeUnavailableText } from './store-unavailable-text.js';
import { addApplications } from './tenancy/applications.js';
import { addInit } from './tenancy/init.js';
import { addTenants } from './tenancy/tenants.js';
import { addTokens } from './tokens/tokens.js';
import { addWebhooks } from './webhooks/webhooks.js';

// The files that this program creates must be accessible only to their owner.
process.umask(0o077);

// Threat: the variable disables the checks of certificates for all of the process: webhooks, the identity provider, the
// receiver of the access log, traces, and the stores. It is often set for another program, in a shell or a unit file.
// NODE_EXTRA_CA_CERTS is the way to trust further certificates. Node.js reads this variable for each connection.
// biome-ignore lint/style/noProcessEnv: this variable belongs to Node.js and is not a setting.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;

// Without a listener for this signal, Node.js opens its debugger on 127.0.0.1. Threat: a script that rotates logs sends
// the signal, and every user of the machine can then read the keys in memory.
process.on('SIGUSR1', () => undefined);

// The process that reads the output may stop early, as `head` does. Shells report this as exit code 141.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(141);
  process.stderr.write(`standard output cannot be written (${error.code}), so the output is incomplete.\n`);
  process.exit(1);
});

// Progress or a message that cannot be printed must not end a command. The exit code still reports the result.
process.stderr.on('error', () => undefined);

// If a terminal was closed, Node.js aborts when the process exits. Threat: a core dump contains keys. Node.js ignores
// files that are closed.
const terminals = [0, 1, 2].filter((fd) => isatty(fd));
process.on('exit', () => {
  for (const fd of terminals) if (!isatty(fd)) closeSync(fd);
});

const program = new Command('strongroom')
  .description('An event-sourced token vault: sensitive values go in, harmless tokens come out.')
  .version(productVersion())
  .showHelpAfterError('(add --help for help)')
  // These settings must precede the commands, because commands inherit the settings when they are added.
  .configureHelp({ helpWidth: 80, minWidthToWrap: 20 })
  .configureOutput({ writeErr: writeError })
  .exitOverride();
for (const add of [
  addServe,
  addInit,
  addTenants,
  addApplications,
  addTokens,
  addWebhooks,
  addProjections,
  addAudit,
  addKeys,
  addBackup,
  addDoctor,
  addConsole,
  addCluster,
  addClock,
  addConfig,
])
  add(program);
for (const command of program.commands) inheritExit(command);
program.hook('preAction', (_, command) => expectNoEmptyPath(command));

process.once('beforeExit', reportEndlessWait);
program
  .parseAsync()
  .then(() => 0, exitCodeOf)
  .then((code) => {
    process.off('beforeExit', reportEndlessWait);
    process.exitCode = code;
  });

/** Reports that the command has not ended, although nothing is left that could continue it. */
function reportEndlessWait(): void {
  process.exitCode = 1;
  writeError('unexpected error, please report it: the command waits for something that never happens\n');
}

function inheritExit(command: Command): void {
  command.exitOverride().showHelpAfterError('(add --help for help)');
  for (const inner of command.commands) inheritExit(inner);
}

/**
 * Throws Failure if a path is empty. Otherwise, an empty path would fail with a message that names no file, or stand
 * for the working directory.
 */
function expectNoEmptyPath(command: Command): void {
  const { options, registeredArguments, processedArgs } = command;
  const given = [
    ...options.map((option) => [option.long, option.flags, command.opts()[option.attributeName()]]),
    ...registeredArguments.map((argument, index) => [argument.name(), `<${argument.name()}>`, processedArgs[index]]),
  ];
  for (const [name, flags, value] of given) {
    const isPath = /<(file|directory|folder|out|checkpoint)>/.test(String(flags));
    if (isPath && [value].flat().includes('')) throw new Failure(`${name} must not be empty.`, 2);
  }
}

function exitCodeOf(error: unknown): number {
  // Commander has already printed its message. Help and version output exit with status 0. Everything else is a usage
  // error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Failure || error instanceof StoreProblem) {
    writeError(`${error.message}\n`);
    return error instanceof Failure ? error.exitCode : 1;
  }
  if (error instanceof StoreUnavailable) {
    process.stderr.write(`${storeUnavailableText(error)}\n`);
    return 1;
  }
  // Prints only what a log line may contain, because the error's message or cause may quote data (docs/contract.md,
  // "Log lines").
  const { name, code = '', stack = '' } = loggedError(error);
  process.stderr.write(`unexpected error, please report it: ${name} ${code}\n${stack}\n`);
  return 1;
}
