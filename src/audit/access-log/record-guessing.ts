import type { Caller } from '../../domain/access/caller.js';
import { counted } from '../../domain/text.js';
import { entityRef, refOfTokenStream } from '../../events/access-log/entity-ref.js';
import type { TenantKeys } from '../../keys/key-ring.js';
import type { BudgetName } from '../../ports/budgets.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type TenantKeysDeps, tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { type AccessActor, type AccessFact, entriesOfActor, entriesOfRequest } from './new-entry.js';
import { namesKeyOf } from './recorded-work.js';

type Deps = Pick<Vault, 'keys' | 'clock' | 'recorder'>;

const exhaustedMessages: Readonly<Record<BudgetName, string>> = {
  guesses: 'rejected: the guesses for this hour are used up',
  deduplication_misses: 'rejected: the deduplication misses for this hour are used up',
};

/** Records that an application has used up an hourly budget (docs/contract.md, "Guesses"). Never throws. */
export function recordExhaustedBudget(deps: Deps, caller: Caller, budget: BudgetName): Promise<void> {
  return recordOfApplication(deps, caller, 'denied', exhaustedMessages[budget]);
}

/**
 * Records that an application has deduplicated many values without a hit, which suggests that it is guessing. Never
 * throws.
 */
export function recordSuspect(deps: Deps, caller: Caller): Promise<void> {
  const message = 'suspect: a tenth of the deduplication misses for this hour are used up without a hit';
  return recordOfApplication(deps, caller, 'success', message);
}

async function recordOfApplication(
  { keys, clock, recorder }: Deps,
  caller: Caller,
  outcome: 'denied' | 'success',
  message: string,
): Promise<void> {
  const { tenantId, applicationId, keyId, sourceAddress = null } = caller;
  const names = await namesKeyOf(keys, tenantId);
  const ref = names === null ? null : entityRef(names, applicationId);
  const actor: AccessActor = { tenantId, actorId: applicationId, actorType: 'application', keyId, sourceAddress };
  const entityId = applicationId;
  const fact: AccessFact = { entity: 'application', ref, entityId, operation: 'read', outcome, message };
  recorder.soon(entriesOfActor(actor, null, clock.now(), [fact]));
}

/** Records an update that was rejected after it was merged with data that the caller may not see. */
export function recordProbe(
  vault: Pick<Vault, 'clock' | 'recorder'>,
  context: Pick<RequestContext, 'caller' | 'traceId'>,
  tenantKeys: TenantKeys,
  stream: string,
): void {
  const message =
    'rejected: merged with data that the application may not see, the token would be invalid or too large';
  const ref = refOfTokenStream(stream);
  const fact: AccessFact = { entity: 'token', ref, operation: 'update', outcome: 'denied', message };
  vault.recorder.soon(entriesOfRequest(context, tenantKeys, vault.clock.now(), [fact]));
}

/** Records a search by value that found nothing. Never records the value. */
export async function recordFruitlessSearch(
  vault: TenantKeysDeps & Pick<Vault, 'clock' | 'recorder'>,
  context: Pick<RequestContext, 'caller' | 'traceId'>,
  values: number,
  missed: number,
): Promise<void> {
  const tenantKeys = await tenantKeysOf(vault, context.caller.tenantId);
  const message = `search by value: ${missed} of ${counted(values, 'value')} found nothing`;
  const fact = { entity: 'token', ref: null, operation: 'read', message } as const;
  vault.recorder.soon(entriesOfRequest(context, tenantKeys, vault.clock.now(), [fact]));
}
