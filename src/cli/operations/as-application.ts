import type { z } from 'zod';
import { recordRefusal } from '../../audit/access-log/record-refusal.js';
import type { OperatedService } from '../../compose/vault/open-service.js';
import type { Caller } from '../../domain/access/caller.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import type { Permission } from '../../domain/access/permission.js';
import type { Json } from '../../domain/json.js';
import { inLowerCase } from '../../domain/text.js';
import { problemCatalogue } from '../../http/problem/problem-catalogue.js';
import type { Service } from '../../http/service.js';
import type { CommandResult, RejectionCode } from '../../vault/result.js';
import { fieldErrorText } from './field-error-text.js';
import { type Operation, OperationFailed, OperationRefused, operation } from './operation.js';

/** The context in which an operation runs as an application. There is no HTTP request. */
type ApplicationContext = ReturnType<typeof commandContext>;

/**
 * Creates an operation that runs as the application of an API key. The application must have one of the permissions. As
 * in the API, a token permission on at least one container is enough. If the operation throws OperationRefused, the
 * access log gets one `denied` entry, as for a response with status 403. The operation fails if the key is unknown.
 */
export function applicationOperation<Input extends { readonly key: string; readonly id?: string }, Answer extends Json>(
  schema: z.ZodType<Input>,
  anyOf: readonly [Permission, ...Permission[]],
  run: (service: OperatedService, context: ApplicationContext, input: Input) => Promise<Answer>,
): Operation<Answer> {
  return operation(schema, async (service, input) => {
    const context = commandContext(service, await applicationOf(service, input.key));
    try {
      expectAny(context.caller, anyOf);
      return await run(service, context, input);
    } catch (error) {
      if (error instanceof OperationRefused) await recordDenied(service, context, anyOf, input.id ?? null);
      throw error;
    }
  });
}

/**
 * Records in the access log that the application may not do this. If one of several permissions is enough, the entry
 * contains the last of them, as for a request.
 */
export async function recordDenied(
  { vault }: Service,
  context: Pick<ApplicationContext, 'caller' | 'traceId'>,
  anyOf: readonly [Permission, ...Permission[]],
  id: string | null,
): Promise<void> {
  await recordRefusal(vault, context, anyOf.at(-1) ?? anyOf[0], id, 'denied');
}

/** Returns the API key's application. Throws OperationFailed if the key is unknown. */
async function applicationOf(service: Service, key: string): Promise<Caller> {
  const caller = await service.authenticate(key);
  if (caller === null)
    throw new OperationFailed(
      'no application has this API key, or the key has expired. Check --api-key-file or STRONGROOM_API_KEY.',
    );
  return caller;
}

/** Throws OperationRefused unless the application has one of the permissions. */
export function expectAny(caller: Caller, anyOf: readonly [Permission, ...Permission[]]): void {
  if (anyOf.some((permission) => grantsAnywhere(caller, permission))) return;
  throw new OperationRefused(
    anyOf.length === 1
      ? `the application does not hold ${anyOf[0]}. Use the key of one that does.`
      : `the application holds neither ${anyOf.join(' nor ')}. Use the key of one that holds either.`,
  );
}

/** Returns the context of an operation. Its time of arrival is the current time. */
export function commandContext({ vault }: Service, caller: Caller) {
  return { caller, traceId: vault.random.uuid(), beganAt: performance.now() };
}

/** Returns true if the application may not do this: a response with this code would have status 403. */
export function isRefusal(code: RejectionCode): boolean {
  return problemCatalogue[code].status === 403;
}

/**
 * Returns the value of a successful result. If the result is a failure, throws OperationFailed with the text of the
 * problem, or OperationRefused if the application may not do this.
 */
export function valueOrThrow<T>(result: CommandResult<T>): T {
  if (result.ok) return result.value;
  const { detail, advice } = problemCatalogue[result.code];
  const message = result.errors === undefined ? inLowerCase(`${detail} ${advice}`) : fieldErrorText(result.errors);
  throw isRefusal(result.code) ? new OperationRefused(message) : new OperationFailed(message);
}
