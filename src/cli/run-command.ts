import { join } from 'node:path';
import type { Config } from '../compose/config/config.js';
import { controlSocketPath, serviceMayListen } from '../compose/embedded/control-socket.js';
import { containsVault, faultOfContent } from '../compose/embedded/data-directory.js';
import { dataDirectoryOf, openProfile } from '../compose/open-profile.js';
import type { OperatedService } from '../compose/vault/open-service.js';
import type { Json } from '../domain/json.js';
import { StoreProblem } from '../ports/store-problem.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import { callControl } from './control/call-control.js';
import { Failure } from './failure.js';
import { type OperationOutcome, runOperation } from './operations/run-operation.js';
import type { Answers, OperationName } from './operations.js';
import { withRootKeys } from './root-keys-of.js';
import { storeWasUnavailableText } from './store-unavailable-text.js';
import { unsearchableDirectory, unsearchableText } from './unsearchable-directory.js';

/**
 * Runs an operation in the service that has the data open. If no service is running, this process opens the data and
 * runs the operation itself.
 */
export async function runCommand<Name extends OperationName>(
  config: Config,
  name: Name,
  input: unknown,
): Promise<Answers[Name]> {
  const socketPath = socketPathOf(config);
  const answered = socketPath === null ? null : await callControl(socketPath, name, input);
  const opening = { prepares: name === 'init', acceptsOlderLog: false };
  return answerOf(answered ?? (await withService(config, opening, (service) => runOperation(service, name, input))));
}

/**
 * Runs one operation. A command may call the function several times, but not concurrently. Throws Failure if the
 * operation fails.
 */
export type RunOperation = <Name extends OperationName>(name: Name, input: unknown) => Promise<Answers[Name]>;

/**
 * Like `runCommand`, but for a command that consists of several operations. All of them run in the same process: in the
 * service if it has the data open when the command starts, otherwise in this process. If `looksOnly` is true and no
 * service is running, opens the log even if the log is older than its keys. A service would reject such a log.
 */
export async function runOperations<T>(
  config: Config,
  use: (run: RunOperation) => Promise<T>,
  { looksOnly = false }: { readonly looksOnly?: boolean } = {},
): Promise<T> {
  const socketPath = socketPathOf(config);
  if (socketPath === null || !(await serviceMayListen(socketPath))) {
    return withService(config, { prepares: false, acceptsOlderLog: looksOnly }, (service, expectUsable) =>
      use(async (name, input) => {
        expectUsable();
        return answerOf(await runOperation(service, name, input));
      }),
    );
  }
  return use(async (name, input) => {
    const answered = await callControl(socketPath, name, input);
    if (answered === null)
      throw new Failure('the service stopped before the command was complete. Start it, then repeat the command.');
    return answerOf(answered);
  });
}

/**
 * Returns the path of the control socket. Returns null if the path would be too long, or if the profile is `cluster`,
 * which has no socket.
 */
function socketPathOf(config: Config): string | null {
  const dataDir = dataDirectoryOf(config);
  return dataDir === null ? null : controlSocketPath(dataDir);
}

function answerOf<Answer extends Json>(outcome: OperationOutcome<Answer>): Answer {
  if (!outcome.ok) throw new Failure(outcome.message);
  return outcome.value;
}

/**
 * Throws Failure if the data directory is a backup, contains an unfinished restore, or cannot be looked up. Unless
 * `mayBeNew` is true, also throws Failure if the directory contains no vault. In the cluster profile, does nothing.
 */
export function expectVault(config: Config, mayBeNew = false): void {
  const dataDir = dataDirectoryOf(config);
  if (dataDir === null) return;
  const blocked = unsearchableDirectory(join(dataDir, 'vault.db'));
  if (blocked !== null) throw new Failure(unsearchableText(dataDir, blocked));
  const fault = faultOfContent(dataDir);
  if (fault !== null) throw new Failure(fault);
  if (mayBeNew || containsVault(dataDir)) return;
  throw new Failure(
    `there is no vault in ${dataDir}. Create one with \`strongroom init\`, or choose another directory with --data.`,
  );
}

/**
 * Opens the service in this process, and closes it after use. Only `init` creates missing stores. `expectUsable` throws
 * the reason if the files have become unusable, so that a command that waits for work on them ends.
 */
async function withService<T>(
  config: Config,
  opening: { readonly prepares: boolean; readonly acceptsOlderLog: boolean },
  use: (service: OperatedService, expectUsable: () => void) => Promise<T>,
): Promise<T> {
  expectVault(config, opening.prepares);
  const failures: unknown[] = [];
  const broken: Error[] = [];
  const service = await withRootKeys(config, opening.prepares ? 'opening' : 'command', (rootKeys) =>
    openProfile(config, {
      ...opening,
      rootKeys,
      isCommand: true,
      onError: (error) => failures.push(error),
      onBroken: (error) => {
        // Without the lock, another process can use the directory, so this process must not go on.
        if (error instanceof StoreProblem && error.found?.check === 'lock') {
          process.stderr.write(`${error.message}\n`);
          process.exit(1);
        }
        failures.push(error);
        broken.push(error);
      },
      onNotice: (text) => void process.stderr.write(`${text}\n`),
    }),
  );
  let thrown: unknown = null;
  try {
    return await use(service, () => {
      const [error] = broken;
      if (error !== undefined) throw error;
    });
  } catch (error) {
    thrown = error;
    throw error;
  } finally {
    await service.close();
    const [failure] = failures.filter((error) => error !== thrown);
    if (failure instanceof StoreUnavailable) process.stderr.write(`${storeWasUnavailableText(failure)}\n`);
    else if (failure instanceof Error) process.stderr.write(`${failure.message}\n`);
  }
}
