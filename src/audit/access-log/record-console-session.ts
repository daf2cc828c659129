import type { Visitor } from '../../domain/access/visitor.js';
import { entityRef } from '../../events/access-log/entity-ref.js';
import { sealTrace } from '../../events/sealing/trace-ciphertext.js';
import type { CommandContext } from '../../vault/command-context.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { accessTracePlace, entriesOfRequest } from './new-entry.js';

const messages = { sign_in: 'signed in at the console', sign_out: 'signed out of the console' } as const;

/** Records that a person signed in or out with an application's key. */
export async function recordConsoleSession(
  vault: Vault,
  context: Pick<CommandContext, 'caller' | 'traceId'>,
  operation: keyof typeof messages,
): Promise<void> {
  const { tenantId, applicationId } = context.caller;
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const ref = entityRef(tenantKeys.names, applicationId);
  const message = messages[operation];
  const fact = { entity: 'application', ref, entityId: applicationId, operation, message } as const;
  vault.recorder.soon(entriesOfRequest(context, tenantKeys, vault.clock.now(), [fact]));
}

/** Records for every live tenant that an operator signed in or out. */
export async function recordOperatorSession(
  { directory, keys, clock, recorder }: Vault,
  { traceId, visitor, sourceAddress }: { traceId: string; visitor: Visitor; sourceAddress: string },
  operation: keyof typeof messages,
): Promise<void> {
  for (const { id: tenantId, removedAt } of await directory.list('tenant')) {
    const tenantKeys = removedAt === null ? await keys.tenantKeys(tenantId) : null;
    if (tenantKeys === null) continue;
    const trace = sealTrace(tenantKeys, { traceId, visitor }, { tenantId, ...accessTracePlace });
    recorder.soon([
      {
        ...{ tenantId, time: clock.now(), actorId: 'operator', actorType: 'operator', keyId: null, sourceAddress },
        ...{ entityType: 'service', entityRef: entityRef(tenantKeys.names, tenantId), entityId: null },
        ...{ operation, outcome: 'success', message: messages[operation], trace, tracePlace: null },
      },
    ]);
  }
}
