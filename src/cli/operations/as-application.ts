import type { Caller } from '../../domain/access/caller.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import type { Permission } from '../../domain/access/permission.js';
import { problemCatalogue } from '../../http/problem/problem-catalogue.js';
import type { Service } from '../../http/service.js';
import type { CommandResult } from '../../vault/result.js';
import { fieldErrorText } from './field-error-text.js';
import { OperationFailed } from './operation.js';

/** Returns the API key's application. Checks no permission. Throws OperationFailed if the key is unknown. */
export async function applicationOf(service: Service, key: string): Promise<Caller> {
  const caller = await service.authenticate(key);
  if (caller === null) throw new OperationFailed('no application has this key. Check the key file.');
  return caller;
}

/**
 * Returns the API key's application, which must have one of the permissions. As in the API, a token permission on at
 * least one container is enough. Throws OperationFailed if the key is unknown or the permission is missing.
 */
export async function asApplication(
  service: Service,
  key: string,
  ...anyOf: readonly [Permission, ...Permission[]]
): Promise<Caller> {
  const caller = await applicationOf(service, key);
  if (anyOf.some((permission) => grantsAnywhere(caller, permission))) return caller;
  throw new OperationFailed(
    anyOf.length === 1
      ? `the application does not hold ${anyOf[0]}. Use the key of one that does.`
      : `the application has neither ${anyOf.join(' nor ')}. Use the key of one that has either.`,
  );
}

/**
 * Returns the context in which a CLI command runs. Since there is no HTTP request, the context uses the current time as
 * the time of arrival.
 */
export function commandContext({ vault }: Service, caller: Caller) {
  return { caller, traceId: vault.random.uuid(), beganAt: performance.now() };
}

/**
 * Returns the value of a successful result. If the result is a failure, throws OperationFailed with the text of the
 * problem.
 */
export function unwrap<T>(result: CommandResult<T>): T {
  if (result.ok) return result.value;
  const { detail, advice } = problemCatalogue[result.code];
  throw new OperationFailed(result.errors === undefined ? `${detail} ${advice}` : fieldErrorText(result.errors));
}
