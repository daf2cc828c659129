import { z } from 'zod';
import { type Imported, type ImportRequest, importToken } from '../../commands/tokens/import-token.js';
import type { Caller } from '../../domain/access/caller.js';
import type { FieldErrors } from '../../domain/field-errors.js';
import { problemCatalogue } from '../../http/problem/problem-catalogue.js';
import type { Service } from '../../http/service.js';
import { createTokenBody } from '../../http/token-body.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { asApplication } from '../operations/as-application.js';
import { issueErrors } from '../operations/field-error-text.js';
import { operation } from '../operations/operation.js';
import { storeUnavailableText } from '../store-unavailable-text.js';

/** The maximum number of requests in one call. The requests run concurrently so that they can share commits. */
export const importBatchMax = 256;

/**
 * The outcome of one request. `stopped` means that the request was not processed, and that all later requests would
 * fail for the same reason.
 */
export type ImportOutcome =
  | { readonly is: Imported }
  | { readonly is: 'failed'; readonly errors: FieldErrors }
  | { readonly is: 'stopped'; readonly message: string };

/** A request to import. `id` is the token's id if the request itself contains none. */
const item = z.object({ request: z.unknown(), id: z.string().nullable() });

/**
 * Imports a batch as the application. Returns the outcomes in the order of the requests. If `strict` is true, runs the
 * requests one after another and stops at the first failure, so the last outcome is that failure.
 */
export const importTokens = operation(
  z.object({ key: z.string(), strict: z.boolean(), items: z.array(item).max(importBatchMax) }),
  async (service, { key, strict, items }) => {
    const caller = await asApplication(service, key, 'token:create');
    const run = ({ request, id }: z.infer<typeof item>) => importOne(service, caller, request, id);
    if (!strict) return { outcomes: await Promise.all(items.map(run)) };
    const outcomes: ImportOutcome[] = [];
    for (const each of items) {
      const outcome = await run(each);
      outcomes.push(outcome);
      if (outcome.is === 'failed' || outcome.is === 'stopped') break;
    }
    return { outcomes };
  },
);

async function importOne(
  { vault }: Service,
  caller: Caller,
  given: unknown,
  derivedId: string | null,
): Promise<ImportOutcome> {
  const parsed = createTokenBody.safeParse(given);
  if (!parsed.success) return { is: 'failed', errors: issueErrors(parsed.error.issues, 'line') };
  const id = derivedId ?? parsed.data.id;
  if (id == null) return { is: 'failed', errors: { id: ['is required'] } };
  const request: ImportRequest = { ...parsed.data, id };
  const context = { caller, traceId: vault.random.uuid(), beganAt: performance.now(), idempotency: null };
  try {
    const imported = await importToken(vault, context, request, derivedId !== null);
    if (imported.ok) return { is: imported.value };
    const { detail, advice } = problemCatalogue[imported.code];
    if (imported.code === 'guesses_exhausted') return { is: 'stopped', message: `${detail} ${advice}` };
    return { is: 'failed', errors: imported.errors ?? { line: [detail] } };
  } catch (error) {
    if (error instanceof StoreUnavailable) return { is: 'stopped', message: storeUnavailableText(error) };
    throw error;
  }
}
