import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../compose/config.js';
import { openEmbedded } from '../compose/embedded.js';
import type { Json } from '../domain/json.js';
import { callControl } from './control/call-control.js';
import { controlSocketPath } from './control/socket-path.js';
import { Failure } from './failure.js';
import type { OperationName } from './operations/operations.js';
import { type OperationOutcome, runOperation } from './operations/run-operation.js';
import { rootKeyOf } from './root-key-of.js';

/**
 * Has an operation done: by the service that holds the data while one runs, else by this process, which takes the data
 * for as long as it needs.
 */
export async function runVerb(config: Config, name: OperationName, input: unknown): Promise<Json> {
  const socketPath = controlSocketPath(config.settings.data);
  const answered = socketPath === null ? null : await callControl(socketPath, name, input);
  const outcome = answered ?? (await runHere(config, name, input));
  if (!outcome.ok) throw new Failure(outcome.message);
  return outcome.value;
}

async function runHere(config: Config, name: OperationName, input: unknown): Promise<OperationOutcome> {
  const { data: dataDir } = config.settings;
  if (name !== 'init' && !existsSync(join(dataDir, 'vault.db'))) {
    throw new Failure(
      `there is no vault in ${dataDir}. Make one with \`strongroom init\`, or name another with --data.`,
    );
  }
  const rootKey = await rootKeyOf(config);
  const failures: unknown[] = [];
  const service = await openEmbedded({
    ...{ dataDir, rootKey, mode: name === 'init' ? 'production' : 'any' },
    cvcRetentionMs: config.settings['cvc.retention_seconds'] * 1_000,
    onError: (error) => failures.push(error),
    onBroken: (error) => failures.push(error),
  });
  try {
    return await runOperation(service, name, input);
  } finally {
    await service.close();
    rootKey.fill(0);
    const [failure] = failures;
    if (failure instanceof Error) process.stderr.write(`${failure.message}\n`);
  }
}
