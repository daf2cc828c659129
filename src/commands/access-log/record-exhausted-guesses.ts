import type { Caller } from '../../domain/access/caller.js';
import { entityRef } from '../../events/access-log/entity-ref.js';
import type { Vault } from '../vault.js';

/** Records that an application has used up its guesses of the hour (contract, section 11). Never throws. */
export async function recordExhaustedGuesses(
  { keys, clock, recorder }: Pick<Vault, 'keys' | 'clock' | 'recorder'>,
  caller: Caller,
): Promise<void> {
  const { tenantId, applicationId, keyId, sourceAddress = null } = caller;
  // The refusals that follow are recorded by nobody else; without the key store this entry lacks its reference alone.
  const tenantKeys = await keys.tenantKeys(tenantId).catch(() => null);
  recorder.soon([
    {
      ...{ tenantId, time: clock.now(), actorId: applicationId, actorType: 'application', keyId, sourceAddress },
      ...{ entityType: 'application', entityId: applicationId },
      entityRef: tenantKeys === null ? null : entityRef(tenantKeys.names, applicationId),
      ...{ operation: 'read', outcome: 'denied', message: 'refused: the guesses of this hour are used up' },
      ...{ trace: null, tracePlace: null },
    },
  ]);
}
