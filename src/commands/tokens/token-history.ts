import type { Caller } from '../../domain/access/caller.js';
import { grantsAnywhere, transformFor } from '../../domain/access/decide-access.js';
import type { JsonObject } from '../../domain/json.js';
import { formatTimestamp } from '../../domain/time.js';
import type { RecordedEvent } from '../../events/event.js';
import { openTrace } from '../../events/sealing/trace-box.js';
import { readTokenEvent } from '../../events/tokens/catalogue.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import { type CommandResult, done, rejected } from '../result.js';
import { tenantKeysOf } from '../tenant-keys.js';
import type { Vault } from '../vault.js';
import { readToken } from './read-token.js';

type Page = { readonly offset: number; readonly limit: number };
type Entry = { readonly event: RecordedEvent; readonly life: number };

/**
 * What happened to a token, newest first, never a value; also to one that is deleted. Who holds `log:read` sees all lives
 * of the id, each by its number; who may read the token sees the present life, and of a deleted token the last one when
 * it may read everything (contract, section 10).
 */
export async function tokenHistory(
  vault: Vault,
  caller: Caller,
  id: string,
  { offset, limit }: Page,
): Promise<CommandResult<{ readonly entries: readonly JsonObject[]; readonly total: number }>> {
  const { tenantId } = caller;
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const stream = tokenStream(tenantKeys.names, id);
  const all = withLives(await vault.log.readStream(stream));
  const lastLife = all.at(-1)?.life;
  if (lastLife === undefined) return rejected('token_not_found');
  const seesAll = grantsAnywhere(caller, 'log:read');
  if (!seesAll) {
    const refusal = await refusalOf(vault, caller, stream);
    if (refusal !== null) return refusal;
  }
  const seen = seesAll ? all : all.filter(({ life }) => life === lastLife);
  const entries = [...seen].reverse().slice(offset, offset + limit);
  return done({ entries: entries.map((entry) => answer(tenantKeys, entry, seesAll)), total: seen.length });
}

/** Each event with the number of the life it belongs to; the first is 1. */
function withLives(events: readonly RecordedEvent[]): readonly Entry[] {
  let life = 0;
  // A fence tells of the stores and not of the token.
  const told = events.filter(({ type }) => type !== 'token.fenced');
  return told.map((event) => {
    if (event.type === 'token.created') life += 1;
    return { event, life };
  });
}

async function refusalOf(vault: Vault, caller: Caller, stream: string) {
  const read = await readToken(vault, caller.tenantId, stream);
  if (read !== null) {
    const { containers } = read.open.content.reveal();
    return transformFor(caller, 'token:read', containers) === null ? rejected('forbidden') : null;
  }
  // What containers a deleted token was in is erased with it: only who may read everything may read of it.
  return transformFor(caller, 'token:read', ['/']) === null ? rejected('token_not_found') : null;
}

function answer({ audit }: TenantKeys, { event, life }: Entry, withLife: boolean): JsonObject {
  const { type, revision, actorId, time, trace } = event;
  const traceId = trace === null ? null : openTrace(audit, trace, event);
  return {
    ...{ type, revision, actor_id: actorId },
    ...(traceId === null ? {} : { trace_id: traceId }),
    ...{ created_at: formatTimestamp(time), changed: changedBy(event) },
    ...(withLife ? { life } : {}),
  };
}

function changedBy(event: RecordedEvent): readonly string[] {
  const fact = readTokenEvent(event);
  if (fact.type === 'token.updated') return fact.clear.changed;
  return fact.type === 'token.property.expired' ? [fact.clear.property] : [];
}
