import { KeyLost } from '../../commands/key-lost.js';
import { TenantGone } from '../../commands/tenant-gone.js';
import type { OperatedService } from '../../compose/open-service.js';
import type { Json } from '../../domain/json.js';
import { UnreadableEvent } from '../../events/tokens/catalogue.js';
import { RotationRefused } from '../../ports/key-rotation.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { storeUnavailableText } from '../store-unavailable-text.js';
import { OperationFailed } from './operation.js';
import { type OperationName, operations } from './operations.js';

export type OperationOutcome =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string };

/** Checks the input and runs the operation. What goes wrong comes back as a text for a person. */
export async function runOperation(
  service: OperatedService,
  name: OperationName,
  input: unknown,
): Promise<OperationOutcome> {
  const operation = operations[name];
  const parsed = operation.input.safeParse(input);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`);
    return { ok: false, message: lines.join('\n') };
  }
  try {
    const run = operation.run as (service: OperatedService, input: unknown) => Promise<Json>;
    return { ok: true, value: await run(service, parsed.data) };
  } catch (error) {
    if (error instanceof OperationFailed) return { ok: false, message: error.message };
    if (error instanceof StoreUnavailable) return { ok: false, message: storeUnavailableText(error) };
    if (error instanceof TenantGone) return { ok: false, message: 'the tenant was deleted meanwhile.' };
    if (error instanceof UnreadableEvent) return { ok: false, message: error.message };
    if (error instanceof RotationRefused) return { ok: false, message: error.message };
    if (error instanceof KeyLost) return { ok: false, message: 'the key of this token is lost: restore keys.db.' };
    throw error;
  }
}
