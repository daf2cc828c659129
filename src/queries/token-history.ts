import type { Caller } from '../domain/access/caller.js';
import { grantsAnywhere, transformFor } from '../domain/access/decide-access.js';
import type { JsonObject } from '../domain/json.js';
import { formatTimestamp } from '../domain/time.js';
import type { ProvenEvent } from '../events/commit.js';
import type { ClearEvent, RecordedEvent } from '../events/event.js';
import { openTrace } from '../events/sealing/trace-ciphertext.js';
import { readTokenEvent } from '../events/tokens/catalogue.js';
import { tokenStream } from '../events/tokens/stream-name.js';
import type { TenantKeys } from '../keys/key-ring.js';
import { clearEvents } from '../vault/load-token.js';
import { type CommandResult, done, rejected } from '../vault/result.js';
import { tenantKeysOf } from '../vault/tenant-keys.js';
import type { Work } from '../vault/turns.js';
import type { Vault } from '../vault/vault.js';
import { readToken } from './read-token.js';

type Page = { readonly offset: number; readonly limit: number };
/** Where an event lies, and the number of the life it belongs to; the first is 1. */
type Place = { readonly revision: number; readonly life: number };

/** Events of a page that are in memory together: each may have a ciphertext of 512 KiB. */
const wholeAtOnce = 4;

/**
 * What happened to a token, newest first, never a value; also to one that is deleted. Who holds `log:read` sees all
 * lives of the id, each by its number; who may read the token sees the present life, and of a deleted token the last
 * one when it may read everything (docs/contract.md, "Token history").
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
  const work = vault.turns.begin(tenantId);
  const all = await placesOf(vault, work, stream);
  const lastLife = all.at(-1)?.life;
  if (lastLife === undefined) return rejected('token_not_found');
  const seesAll = grantsAnywhere(caller, 'log:read');
  if (!seesAll) {
    const refusal = await refusalOf(vault, caller, stream);
    if (refusal !== null) return refusal;
  }
  const seen = seesAll ? all : all.filter(({ life }) => life === lastLife);
  const shown = [...seen].reverse().slice(offset, offset + limit);
  const entries: JsonObject[] = [];
  for await (const { event, life } of eventsAt(vault, work, stream, shown)) {
    entries.push(answer(tenantKeys, event, seesAll ? life : null));
  }
  return done({ entries, total: seen.length });
}

/**
 * Where the events of a token lie, and in which life: read without their ciphertexts, and other requests run in
 * between.
 */
async function placesOf({ log }: Vault, work: Work, stream: string): Promise<readonly Place[]> {
  const places: Place[] = [];
  let life = 0;
  const add = ({ type, revision }: ClearEvent): void => {
    if (type === 'token.created') life += 1;
    // A fence tells of the stores and not of the token.
    if (type !== 'token.fenced') places.push({ revision, life });
  };
  const [first] = await log.readClearFrom(stream, 0, 1);
  if (first === undefined) return places;
  add(first);
  for await (const page of clearEvents(log, stream, 1)) {
    for (const event of page) add(event);
    await work.pause();
  }
  return places;
}

/** The events at these places, which are in descending order, with what is sealed in them: their trace. */
async function* eventsAt(
  { log }: Vault,
  work: Work,
  stream: string,
  places: readonly Place[],
): AsyncGenerator<{ readonly event: ProvenEvent; readonly life: number }> {
  for (let at = 0; at < places.length; at += wholeAtOnce) {
    const some = places.slice(at, at + wholeAtOnce);
    const first = some.at(-1)?.revision ?? 0;
    const events = await log.readFrom(stream, first, (some[0]?.revision ?? 0) - first + 1);
    for (const { revision, life } of some) {
      const event = events[revision - first];
      if (event !== undefined) yield { event, life };
    }
    await work.pause();
  }
}

async function refusalOf(vault: Vault, caller: Caller, stream: string) {
  const read = await readToken(vault, caller.tenantId, stream);
  if (read !== null) {
    const { containers } = read.open;
    return transformFor(caller, 'token:read', containers) === null ? rejected('forbidden') : null;
  }
  // What containers a deleted token was in is erased with it: only who may read everything may read of it.
  return transformFor(caller, 'token:read', ['/']) === null ? rejected('token_not_found') : null;
}

/** `life`: null if the caller sees one life only. */
function answer({ audit }: TenantKeys, event: RecordedEvent, life: number | null): JsonObject {
  const { type, revision, actorId, time, trace } = event;
  const traceId = trace === null ? null : openTrace(audit, trace, event);
  return {
    ...{ type, revision, actor_id: actorId },
    ...(traceId === null ? {} : { trace_id: traceId }),
    ...{ created_at: formatTimestamp(time), changed: changedBy(event) },
    ...(life === null ? {} : { life }),
  };
}

function changedBy(event: RecordedEvent): readonly string[] {
  const fact = readTokenEvent(event);
  if (fact.type === 'token.updated') return fact.clear.changed;
  return fact.type === 'token.property.expired' ? [fact.clear.property] : [];
}
