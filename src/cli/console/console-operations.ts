import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperatedService } from '../../compose/vault/open-service.js';
import type { OnProgress, Operations } from '../../console/operations.js';
import type { Caller } from '../../domain/access/caller.js';
import { writeBundle } from '../audit/run-bundle.js';
import { verifyVault } from '../audit/run-verify.js';
import { verificationJson, verificationText } from '../audit/verification-text.js';
import { Failure } from '../failure.js';
import type { ShowProgress } from '../files/progress.js';
import { runOperation } from '../operations/run-operation.js';
import type { RunOperation } from '../run-command.js';

const progressMs = 500;

/**
 * Returns the operations used by the console's pages. The operations run in this process, because this process has the
 * data open.
 */
export function consoleOperations(service: OperatedService): Operations {
  return {
    run: (name, input) => runOperation(service, name, input),
    verify: (onProgress) =>
      outcomeOf(async () => {
        const show = reportsTo(onProgress);
        const options = { from: 1, to: null, anchor: null, publicKey: null, json: false, show };
        const verification = await verifyVault(runIn(service), options);
        const text = verification.problem === null ? verificationText(verification) : verification.problem.message;
        return { ...verificationJson(verification), text };
      }),
    bundle: (caller, scope, onProgress) =>
      outcomeOf(async () => {
        const folder = join(tmpdir(), `strongroom-bundle-${randomBytes(12).toString('hex')}`);
        const options = { ...scope, key: '', out: folder, json: false, show: reportsTo(onProgress) };
        const remove = () => rm(folder, { recursive: true, force: true });
        try {
          await writeBundle(runIn(as(service, caller)), options);
          return { folder, files: (await readdir(folder)).sort(), remove };
        } catch (error) {
          await remove();
          throw error;
        }
      }),
  };
}

/**
 * Returns the service with an `authenticate` that returns `caller` for any key. The console session has authenticated
 * the caller but does not have the caller's API key.
 */
function as(service: OperatedService, caller: Caller): OperatedService {
  return { ...service, authenticate: () => caller };
}

function runIn(service: OperatedService): RunOperation {
  return async (name, input) => {
    const outcome = await runOperation(service, name, input);
    if (!outcome.ok) throw new Failure(outcome.message);
    return outcome.value;
  };
}

/** Runs `work`. Returns its result, or the message if it throws Failure. */
async function outcomeOf<T>(work: () => Promise<T>) {
  try {
    return { ok: true, value: await work() } as const;
  } catch (error) {
    if (error instanceof Failure) return { ok: false, message: error.message } as const;
    throw error;
  }
}

function reportsTo(onProgress: OnProgress): ShowProgress {
  return (now) => {
    const timer = setInterval(() => onProgress(now().done, now().total ?? 0), progressMs);
    timer.unref();
    return { line: () => undefined, redraw: () => undefined, end: () => clearInterval(timer) };
  };
}
