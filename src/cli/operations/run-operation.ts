import type { OperatedService } from '../../compose/vault/open-service.js';
import type { Json } from '../../domain/json.js';
import { UnreadableEvent } from '../../events/read-clear.js';
import { RotationRefused } from '../../keys/rotation.js';
import { StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { ForgedRow } from '../../vault/forged-row.js';
import { KeyLost } from '../../vault/key-lost.js';
import { TenantGone } from '../../vault/tenant-gone.js';
import { type Answers, type OperationName, operations } from '../operations.js';
import { storeUnavailableText } from '../store-unavailable-text.js';
import { type Operation, OperationFailed } from './operation.js';

export type OperationOutcome<Answer extends Json> =
  | { readonly ok: true; readonly value: Answer }
  | { readonly ok: false; readonly message: string };

const byName: { readonly [Name in OperationName]: Operation<Answers[Name]> } = operations;

/**
 * Runs an operation. If the operation fails for an expected reason, returns a message for the operator. Throws any
 * other error.
 */
export async function runOperation<Name extends OperationName>(
  service: OperatedService,
  name: Name,
  input: unknown,
): Promise<OperationOutcome<Answers[Name]>> {
  try {
    return { ok: true, value: await byName[name].run(service, input) };
  } catch (error) {
    if (error instanceof OperationFailed) return { ok: false, message: error.message };
    if (error instanceof StoreUnavailable) return { ok: false, message: storeUnavailableText(error) };
    if (error instanceof StoreProblem) {
      // The operator sees the message of this command, and the service stops being ready.
      service.reportError(error);
      return { ok: false, message: error.message };
    }
    if (error instanceof TenantGone) return { ok: false, message: 'the tenant was deleted in the meantime.' };
    if (error instanceof UnreadableEvent) return { ok: false, message: error.message };
    if (error instanceof RotationRefused) return { ok: false, message: error.message };
    if (error instanceof KeyLost)
      return { ok: false, message: 'the key of this token is lost. Restore the key store from a backup.' };
    if (error instanceof ForgedRow) return { ok: false, message: `${error.message}; see \`strongroom doctor\`.` };
    throw error;
  }
}
