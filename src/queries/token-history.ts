import type { Caller } from '../domain/access/caller.js';
import { grantsAnywhere, readsEveryToken, transformFor } from '../domain/access/decide-access.js';
import { visitorFields } from '../domain/access/visitor.js';
import type { JsonObject } from '../domain/json.js';
import { formatTimestamp } from '../domain/time.js';
import type { ProvenEvent } from '../events/commit.js';
import type { ClearEvent, RecordedEvent } from '../events/event.js';
import { openTrace } from '../events/sealing/trace-ciphertext.js';
import { readTokenEvent, tokenEventTypes } from '../events/tokens/catalogue.js';
import { tokenStream } from '../events/tokens/stream-name.js';
import type { TenantKeys } from '../keys/key-ring.js';
import { clearEvents } from '../vault/load-token.js';
import { type CommandResult, done, type Rejected, rejected } from '../vault/result.js';
import { tenantKeysOf } from '../vault/tenant-keys.js';
import type { Slices } from '../vault/turns.js';
import type { Vault } from '../vault/vault.js';
import { type ReadToken, type ReadTokenDeps, readToken } from './read-token.js';
import { confirmed, type ReadContext } from './release.js';

/**
 * The types of the events in a token's history. Fences are left out, because they contain information about the stores
 * and not about the token.
 */
export const historyTypes = tokenEventTypes.filter((type) => type !== 'token.fenced');
export type HistoryType = (typeof historyTypes)[number];

type Page = { readonly offset: number; readonly limit: number };
/**
 * The revision of an event, and the number of the token's life that the event belongs to. The first life has the number
 * 1.
 */
type Place = { readonly revision: number; readonly life: number };

/** The number of events that are in memory at the same time. Each event can have a ciphertext of up to 512 KiB. */
const wholeAtOnce = 4;

/**
 * Returns a page of a token's history, newest first. This also works for deleted tokens. Never returns a value. A
 * caller with `log:read` sees all lives of the id, with their numbers. Any other caller sees only the last life. Such a
 * caller needs permission to read the token or, if the token is deleted, to read every token (docs/contract.md, "Token
 * history").
 */
export async function tokenHistory(
  vault: ReadTokenDeps & Pick<Vault, 'confirmReads'>,
  context: Pick<ReadContext, 'caller' | 'beganAt'>,
  id: string,
  { offset, limit }: Page,
): Promise<CommandResult<{ readonly entries: readonly JsonObject[]; readonly total: number }>> {
  const { caller } = context;
  const { tenantId } = caller;
  const tenantKeys = await tenantKeysOf(vault, tenantId);
  const stream = tokenStream(tenantKeys.names, id);
  const seesAll = grantsAnywhere(caller, 'log:read');
  const read = seesAll ? null : await readToken(vault, tenantId, stream);
  const refusal = seesAll ? null : refusalOf(caller, read);
  if (refusal !== null) return confirmed(vault, context, refusal);
  const slices = vault.turns.begin(tenantId);
  const all = await placesOf(vault, slices, stream);
  if (all.length === 0) return confirmed(vault, context, rejected('token_not_found'));
  // Threat: another token gets this id during the request. A caller that may read only one of the two tokens sees the
  // events of the other.
  const readPlace = all.find(({ revision }) => revision === read?.life.createdRevision);
  const { life: shownLife } = readPlace ?? all.at(-1) ?? {};
  const seen = seesAll ? all : all.filter(({ life }) => life === shownLife);
  const shown = [...seen].reverse().slice(offset, offset + limit);
  const entries: JsonObject[] = [];
  for await (const { event, life } of eventsAt(vault, slices, stream, shown)) {
    entries.push(answer(tenantKeys, event, seesAll ? life : null));
  }
  return done({ entries, total: seen.length });
}

/** Returns the places of all events of a token. Does not read ciphertexts. Lets other requests run after each page. */
async function placesOf({ log }: Pick<Vault, 'log'>, slices: Slices, stream: string): Promise<readonly Place[]> {
  const places: Place[] = [];
  let life = 0;
  const add = ({ type, revision }: ClearEvent): void => {
    if (type === 'token.created') life += 1;
    if (type !== 'token.fenced') places.push({ revision, life });
  };
  for await (const page of clearEvents(log, stream, 0)) {
    for (const event of page) add(event);
    await slices.pause();
  }
  return places;
}

/** Reads the events at these places, with their encrypted traces. The places must be in descending order. */
async function* eventsAt(
  { log }: Pick<Vault, 'log'>,
  slices: Slices,
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
    await slices.pause();
  }
}

/** `read` is the live token, or null if the token is unknown, deleted or expired. */
function refusalOf(caller: Caller, read: ReadToken | null): Rejected | null {
  if (read === null) return readsEveryToken(caller) ? null : rejected('token_not_found');
  return transformFor(caller, 'token:read', read.open.containers) === null ? rejected('forbidden') : null;
}

/** Returns an event as the caller sees it. If the caller sees only one life, `life` is null. */
function answer({ audit }: TenantKeys, event: RecordedEvent, life: number | null): JsonObject {
  const { type, revision, actorId, time, trace } = event;
  const opened = trace === null ? null : openTrace(audit, trace, event);
  // Only a caller that may read the access log sees which person made the change.
  const visitor = life === null ? null : (opened?.visitor ?? null);
  return {
    type,
    revision,
    actor_id: actorId,
    ...(opened === null ? {} : { trace_id: opened.traceId }),
    ...visitorFields(visitor),
    created_at: formatTimestamp(time),
    changed: changedBy(event),
    ...(life === null ? {} : { life }),
  };
}

function changedBy(event: RecordedEvent): readonly string[] {
  const fact = readTokenEvent(event);
  if (fact.type === 'token.updated') return fact.clear.changed;
  return fact.type === 'token.property.expired' ? [fact.clear.property] : [];
}
