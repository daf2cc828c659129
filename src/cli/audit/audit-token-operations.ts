import { z } from 'zod';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import type { ErasureStatement } from '../../audit/erasure-statement.js';
import type { JsonObject } from '../../domain/json.js';
import { endedKeys } from '../../events/event-keys.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { pageAnswer, pageFields, rangeOf } from '../../http/pagination.js';
import { type AsOf, readAsOf } from '../../queries/as-of.js';
import { release, releasedToken } from '../../queries/release.js';
import { replayQuery } from '../../queries/replay-query.js';
import { replayToken } from '../../queries/replay-token.js';
import { stateErasure } from '../../queries/state-erasure.js';
import { tokenHistory } from '../../queries/token-history.js';
import { allClearEvents } from '../../vault/load-token.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { applicationOperation, expectAny, valueOrThrow } from '../operations/as-application.js';
import { OperationFailed, OperationRefused } from '../operations/operation.js';

/**
 * Returns a token's history in the form that `GET /tokens/{id}/history` returns. For each event with sealed values,
 * also states whether the vault still has those values (`kept`) or has erased them (`erased`).
 */
export const auditHistory = applicationOperation(
  z.object({ key: z.string(), id: z.string(), ...pageFields }),
  ['log:read', 'token:read'],
  async ({ vault }, context, { id, ...page }) => {
    const { caller } = context;
    const { entries, total } = valueOrThrow(await tokenHistory(vault, context, id, rangeOf(page)));
    const events = await allClearEvents(vault.log, tokenStream((await tenantKeysOf(vault, caller.tenantId)).names, id));
    await vault.confirmReads(context.beganAt);
    await recordManagementRead(vault, context, 'token', id);
    const ended = new Set(endedKeys(events).map(({ keyId }) => keyId));
    const data = entries.map((entry) => {
      const sealedBy = events.find(({ revision }) => revision === entry['revision'])?.clear['key'];
      return typeof sealedBy === 'string' ? { ...entry, values: ended.has(sealedBy) ? 'erased' : 'kept' } : entry;
    });
    return pageAnswer(page, total, data);
  },
);

const ask = { key: z.string(), asOf: z.string(), reveal: z.boolean() };

/**
 * The result of one step of a replay. `head` is the position of the log's newest event, for the progress display.
 * `next` is the position at which the next step continues, or null after the last step.
 */
export type ReplayAnswer = {
  readonly tokens: readonly JsonObject[];
  readonly erased: number;
  readonly withheld: number;
  readonly next: number | null;
  readonly head: number;
};

const oneToken = z.object({ ...ask, id: z.string() });

/** Returns a token as it was at the requested time. The result contains only what the application may see. */
export const auditReplay = applicationOperation(oneToken, ['token:read'], async ({ vault }, context, input) => {
  const { id, reveal } = input;
  const { caller } = context;
  const asOf = await momentOf(vault, input.asOf);
  const stream = tokenStream((await tenantKeysOf(vault, caller.tenantId)).names, id);
  const replayed = await replayToken(vault, context, stream, { asOf, reveal });
  if (replayed.kind === 'none') {
    throw new OperationFailed(
      'the token did not exist at that moment. `strongroom audit history ID` shows when it was created.',
    );
  }
  if (replayed.kind === 'forbidden') throw new OperationRefused('the application may not read this token.');
  if (replayed.kind === 'withheld') {
    throw new OperationRefused(
      'the token has changed since that moment, so only an application that may see it in plaintext sees its earlier ' +
        'state.',
    );
  }
  if (replayed.kind === 'erased') {
    await recordManagementRead(vault, context, 'token', id);
    return { id, ...replayed.body };
  }
  const { answer } = replayed;
  if (reveal && answer.transform !== 'reveal') {
    throw new OperationRefused(
      'the application may not see this token in plaintext. Run the command without --reveal.',
    );
  }
  return valueOrThrow(await releasedToken(vault, context, answer));
});

/**
 * Runs one step of a query over all tokens as they were at the requested time. `found` is the number of tokens that the
 * earlier steps found.
 */
export const auditReplayQuery = applicationOperation(
  z.object({ ...ask, query: z.string(), after: z.int().min(0), found: z.int().min(0).default(0) }),
  ['token:search'],
  async ({ vault }, context, { query, after, found, reveal, ...input }): Promise<ReplayAnswer> => {
    expectAny(context.caller, ['token:read']);
    const asOf = await momentOf(vault, input.asOf);
    const { tokens, erased, withheld, next } = valueOrThrow(
      await replayQuery(vault, context, query, { asOf, reveal }, after, found),
    );
    const render = await release(vault, context, tokens);
    const shown: JsonObject[] = [];
    const slices = vault.turns.begin(context.caller.tenantId);
    for (const token of tokens) {
      const body = await slices.run(render(token));
      if (body !== null) shown.push(body);
    }
    return {
      tokens: shown,
      erased: erased + tokens.length - shown.length,
      withheld,
      next,
      head: await vault.log.head(),
    };
  },
);

async function momentOf(vault: Pick<Vault, 'chain' | 'clock' | 'log'>, text: string): Promise<AsOf> {
  const read = await readAsOf(vault, text);
  if (!read.ok) throw new OperationFailed(read.message);
  return read.asOf;
}

/** If the token was deleted but the vault cannot sign a statement, `statement` is null and `problem` explains why. */
type ErasureAnswer = { readonly statement: ErasureStatement | null; readonly problem: string | null };

/**
 * Checks that a token has been erased, and signs a statement that confirms it. The caller needs permission to read the
 * token's history.
 */
export const auditErasure = applicationOperation(
  z.object({ key: z.string(), id: z.string() }),
  ['log:read', 'token:read'],
  async ({ vault }, context, { id }): Promise<ErasureAnswer> => {
    const stated = valueOrThrow(await stateErasure(vault, context, id));
    if (stated.kind === 'erased') return { statement: stated.statement, problem: null };
    if (stated.kind === 'incomplete') return { statement: null, problem: stated.problem };
    throw new OperationFailed(stated.problem);
  },
);
