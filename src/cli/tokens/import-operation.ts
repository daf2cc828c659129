import { z } from 'zod';
import { type Imported, type ImportRequest, importTogether, importToken } from '../../commands/tokens/import-token.js';
import type { Caller } from '../../domain/access/caller.js';
import type { FieldErrors } from '../../domain/field-errors.js';
import { issueErrors } from '../../domain/json-path.js';
import { inLowerCase } from '../../domain/text.js';
import { problemCatalogue } from '../../http/problem/problem-catalogue.js';
import type { Service } from '../../http/service.js';
import { createTokenBody } from '../../http/token-body.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { RequestContext } from '../../vault/request-context.js';
import { applicationOperation, commandContext, isRefusal, recordDenied } from '../operations/as-application.js';
import { storeUnavailableText } from '../store-unavailable-text.js';
import { wholeLine } from './import-item.js';

/** The maximum number of requests in one call. */
export const importBatchMax = 256;

/**
 * The maximum number of tokens that are created in one change. Other requests wait for the thread that writes, which
 * writes a change as a whole. With changes of 16 tokens, we measured no shorter waits (ADR 19).
 */
const togetherMax = 64;

/**
 * The outcome of one request. `stopped` means that the request was not processed, and that all later requests would
 * fail for the same reason.
 */
export type ImportOutcome =
  | { readonly kind: Imported }
  | { readonly kind: 'failed'; readonly errors: FieldErrors }
  | { readonly kind: 'stopped'; readonly message: string };

/** A request to import. `id` is the token's id if the request itself contains none. */
const item = z.object({ request: z.unknown(), id: z.string().nullable() });

/**
 * Imports a batch as the application. Returns the outcomes in the order of the requests. If possible, creates several
 * tokens in one change, because that costs much less than one change for each token. If `strict` is true, stops at the
 * first failure, so the last outcome is that failure.
 */
export const importTokens = applicationOperation(
  z.object({ key: z.string(), strict: z.boolean(), items: z.array(item).max(importBatchMax) }),
  ['token:create'],
  async (service, { caller }, { strict, items }) => {
    const read = items.map(readLine);
    const invalid = strict ? read.findIndex(({ ok }) => !ok) : -1;
    const lines = invalid === -1 ? read : read.slice(0, invalid + 1);
    const groups = groupsOf(lines);
    if (!strict) {
      const imported = await Promise.all(groups.map((group) => importGroup(service, caller, group)));
      return { outcomes: imported.flat() };
    }
    const outcomes: ImportOutcome[] = [];
    for (const group of groups) {
      const together = await importInOneChange(service, caller, group);
      for (const [index, line] of group.entries()) {
        const outcome = together?.[index] ?? (await importOne(service, caller, line));
        outcomes.push(outcome);
        if (outcome.kind === 'failed' || outcome.kind === 'stopped') return { outcomes };
      }
    }
    return { outcomes };
  },
);

function groupsOf(lines: readonly ImportLine[]): readonly (readonly ImportLine[])[] {
  return Array.from({ length: Math.ceil(lines.length / togetherMax) }, (_, index) =>
    lines.slice(index * togetherMax, (index + 1) * togetherMax),
  );
}

async function importGroup(
  service: Service,
  caller: Caller,
  lines: readonly ImportLine[],
): Promise<readonly ImportOutcome[]> {
  const together = await importInOneChange(service, caller, lines);
  return together ?? Promise.all(lines.map((line) => importOne(service, caller, line)));
}

/** A line as an import request, or the outcome of a line that is not a valid request. */
type ImportLine =
  | { readonly ok: true; readonly request: ImportRequest; readonly isDerived: boolean }
  | { readonly ok: false; readonly outcome: ImportOutcome };

function readLine({ request, id: derivedId }: z.infer<typeof item>): ImportLine {
  const parsed = createTokenBody.safeParse(request);
  if (!parsed.success) return failed(issueErrors(parsed.error.issues, wholeLine));
  const id = derivedId ?? parsed.data.id;
  if (id == null) return failed({ id: ['is required'] });
  return { ok: true, request: { ...parsed.data, id }, isDerived: derivedId !== null };
}

function failed(errors: FieldErrors): ImportLine {
  return { ok: false, outcome: { kind: 'failed', errors } };
}

/** Imports all valid lines in one change. Returns null if the lines must be imported one by one. */
async function importInOneChange(
  service: Service,
  caller: Caller,
  lines: readonly ImportLine[],
): Promise<readonly ImportOutcome[] | null> {
  const requests = lines.flatMap((line) => (line.ok ? [line.request] : []));
  try {
    const imported = await importTogether(service.vault, contextOf(service, caller), requests);
    if (imported === null) return null;
    let next = 0;
    return lines.map((line) => {
      if (!line.ok) return line.outcome;
      const outcome = imported[next];
      next += 1;
      if (outcome === undefined) throw new Error('an import must return all of its outcomes');
      return { kind: outcome };
    });
  } catch (error) {
    const stopped = stoppedBy(error);
    return lines.map((line) => (line.ok ? stopped : line.outcome));
  }
}

async function importOne(service: Service, caller: Caller, line: ImportLine): Promise<ImportOutcome> {
  if (!line.ok) return line.outcome;
  try {
    const context = contextOf(service, caller);
    const imported = await importToken(service.vault, context, line.request, line.isDerived);
    if (imported.ok) return { kind: imported.value };
    if (isRefusal(imported.code)) await recordDenied(service, context, ['token:create'], null);
    const detail = inLowerCase(problemCatalogue[imported.code].detail);
    // The advice in the catalogue names a header, which a command does not show.
    if (imported.code === 'guesses_exhausted')
      return { kind: 'stopped', message: `${detail} Wait until the hour is over.` };
    return { kind: 'failed', errors: imported.errors ?? { [wholeLine]: [detail] } };
  } catch (error) {
    return stoppedBy(error);
  }
}

function contextOf(service: Service, caller: Caller): RequestContext {
  return { ...commandContext(service, caller), idempotency: null };
}

/** Returns the outcome of a line while a store is unavailable. Rethrows any other error. */
function stoppedBy(error: unknown): ImportOutcome {
  if (error instanceof StoreUnavailable) return { kind: 'stopped', message: storeUnavailableText(error) };
  throw error;
}
