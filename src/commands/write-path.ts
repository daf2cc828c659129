import type { TokenEvent } from '../domain/token/decide.js';
import type { EndedKeyState } from '../domain/token/token-state.js';
import { advancedKeys, endedKeys } from '../events/event-keys.js';
import { endsToken } from '../events/tokens/catalogue.js';
import type { TenantKeys } from '../keys/key-ring.js';
import { latestNow, steadyNow } from '../ports/clock.js';
import { ForgedLog } from '../ports/event-log.js';
import type { KeyRevision } from '../ports/key-store.js';
import { keyNamedWithinMs } from '../ports/key-store.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import type { DueRow } from '../ports/token-rows.js';
import type { RowIndex, StreamWrite } from '../ports/unit-of-work.js';
import { ForgedRow } from '../vault/forged-row.js';
import { KeyLost } from '../vault/key-lost.js';
import { loadToken } from '../vault/load-token.js';
import type { Vault } from '../vault/vault.js';
import type { ClaimResult } from '../views/finished-claim.js';
import { withClaimMac, withTokenMac } from '../views/row-mac.js';
import { emptyView, type TokenView } from '../views/token-view.js';
import type { EventOrigin, RequestOrigin } from './event-origin.js';
import { type Conflict, conflict, retryOnConflict } from './retry-on-conflict.js';
import { type Payload, type Sealed, sealEvents } from './seal-events.js';
import { keepIdsOfEnding } from './tokens/keep-ids.js';

export type ChangeTokensDeps = Pick<
  Vault,
  | 'clock'
  | 'directory'
  | 'integrity'
  | 'keys'
  | 'log'
  | 'random'
  | 'reportDamage'
  | 'rows'
  | 'streams'
  | 'timers'
  | 'turns'
  | 'vocabularies'
  | 'webhookStore'
  | 'work'
>;

/**
 * Where an attempt finds its tokens:
 *
 * - `nothing`: the token ids were just generated at random, so the tokens are assumed not to exist.
 * - `rows`: the tokens are probably live, so their rows are read. This takes a third of the time of reading and
 *   verifying their events. It is only possible if one transaction stores the events and the rows. Tokens without a live
 *   row are read from the log.
 * - `log`: the tokens are read from the log.
 *
 * If this finds an older state than the newest in the log, the append fails, and the next attempt reads the log.
 */
type Source = 'nothing' | 'rows' | 'log';

/** The tokens to change, and the origin of the change. */
export type Target = {
  readonly tenantId: string;
  /** If null, the events contain no trace id. */
  readonly tenantKeys: TenantKeys | null;
  readonly streams: readonly string[];
  /** Where the first attempt finds the tokens. By default, in the rows if this is possible. */
  readonly firstFrom?: Exclude<Source, 'rows'>;
  readonly origin: RequestOrigin;
};

/**
 * A keyed fingerprint that no other live token may have, except the tokens in `others`. These have the same fingerprint
 * but another value (docs/contract.md, "Equal values").
 */
export type DistinctFingerprint = { readonly fingerprintHash: string; readonly others: readonly string[] };

/** The decision for one stream, based on the loaded view. */
export type TokenWrite = {
  readonly view: TokenView;
  /**
   * The events to append. If the list is empty, nothing is appended. Instead, the keys that earlier events in the
   * stream marked for destruction are destroyed again, in case an earlier attempt failed to destroy them.
   */
  readonly decisions: readonly TokenEvent[];
  readonly payload: Payload;
  readonly index: RowIndex;
  /** Null if other tokens may have the same value. */
  readonly distinctFingerprint: DistinctFingerprint | null;
};

/** Returns the view of one target, looked up by its stream. */
export type ViewOf = (stream: string) => TokenView;

/** The writes of a command, with their events encrypted. */
export type SealedWrites = {
  readonly writes: readonly { readonly write: TokenWrite; readonly sealed: Sealed }[];
  /** Returns the view of each target after the writes. */
  readonly viewOf: ViewOf;
};

/** One attempt at a command. The tokens are already loaded. */
export type Attempt = {
  /**
   * The time of this attempt, in milliseconds since the epoch. It is different for each attempt, because a token can
   * expire between two attempts.
   */
  readonly at: number;
  readonly viewOf: ViewOf;
  /** The streams that this command has already changed, in attempts that conflicted on other streams. */
  readonly landed: ReadonlySet<string>;
  /** Encrypts the decided events. Once the promise resolves, the new keys are durable. */
  seal(writes: readonly TokenWrite[]): Promise<SealedWrites>;
  /**
   * Appends all events with their rows, together with the result for a retry of the request. If a change that creates
   * tokens conflicts, no part of the change is stored (`CommitOutcome`). Any other change may be stored in part, and
   * the streams of this part are added to `landed`. Before it appends, seals the ids of deleted and expired tokens for
   * webhooks. After it appends, destroys ended keys and records the new revisions of the other keys. Throws
   * StoreUnavailable if ended keys could not be destroyed in time. In that case, a retry of the command destroys them.
   */
  commit(sealed: SealedWrites, claim: ClaimResult | null): Promise<Conflict | 'committed'>;
};

/**
 * The fields, other than `view` and `decisions`, of a write that encrypts nothing and leaves the search index
 * unchanged.
 */
export const nothingToSeal = {
  payload: { content: null, cvc: null },
  index: 'keep',
  distinctFingerprint: null,
} as const;

/**
 * The write path (docs/design.md, "A write, step by step"). Loads the tokens, and then runs the command. The command
 * decides on events, seals them and commits them. After a conflict, starts over. Throws StoreUnavailable if conflicts
 * continue for 5 s.
 */
export function changeTokens<T>(
  vault: ChangeTokensDeps,
  target: Target,
  command: (attempt: Attempt) => Promise<T | Conflict>,
): Promise<T> {
  let from: Source = target.firstFrom ?? (vault.work.isOneTransaction ? 'rows' : 'log');
  const landed = new Set<string>();
  return retryOnConflict(vault, target.streams, async () => {
    const beganAt = steadyNow(vault.clock);
    const { views, fromRows } = await load(vault, target, from);
    const isFromLog = from === 'log';
    from = 'log';
    const origin = { at: vault.clock.now(), ...target.origin };
    const viewOf = viewIn(views);
    const endedOf: EndedOf = async (stream) => {
      const view = fromRows.has(stream) ? await loadToken(vault, target.tenantId, stream) : viewOf(stream);
      return view.state.ended;
    };
    let mayBeCommitted = false;
    const attempt: Attempt = {
      at: origin.at,
      viewOf,
      landed,
      seal: (writes) => seal(vault, target, views, writes, origin),
      async commit(sealed, claim) {
        if (steadyNow(vault.clock) - beganAt > keyNamedWithinMs)
          throw new StoreUnavailable('event log', 'stopped_too_long');
        if ((await ensureProjected(vault, mustBeProjected(views, sealed))) === 'outdated') return conflict;
        const endings = endingsOf(sealed);
        if (endings.length > 0) await keepIdsOfEnding(vault, endings);
        const ended = await endedIn(sealed, endedOf);
        mayBeCommitted = true;
        const stored = await append(vault, sealed, claim, origin);
        if (stored !== 'all') {
          // The next attempt finds these tokens changed, and would not complete their change.
          const part = { ...sealed, writes: sealed.writes.filter(({ write }) => stored.has(write.view.stream)) };
          await settle(vault, part, await endedIn(part, endedOf));
          for (const stream of stored) landed.add(stream);
          mayBeCommitted = false;
          return conflict;
        }
        await settle(vault, sealed, ended);
        return 'committed';
      },
    };
    try {
      const result = await command(attempt);
      // Another process may have appended an event and crashed before it wrote the row. The result of this command may
      // depend on that event, so the rows are brought up to date before the response is sent.
      if (result === conflict || mayBeCommitted) return result;
      if (isFromLog && (await isCreatedSince(vault, views.values()))) return conflict;
      return (await ensureProjected(vault, views.values())) === 'outdated' ? conflict : result;
    } catch (error) {
      if (mayBeCommitted) throw error;
      // Threat: an attacker has put an older row of the token back. The next attempt reads the log.
      if (error instanceof ForgedRow && error.row.of === 'token' && fromRows.has(error.row.name)) return conflict;
      if (await movedOn(vault, views, error)) return conflict;
      throw error;
    }
  });
}

type Loaded = {
  readonly views: ReadonlyMap<string, TokenView>;
  /** The streams whose views are rows. */
  readonly fromRows: ReadonlySet<string>;
};

async function load(
  vault: Pick<Vault, 'keys' | 'log' | 'rows' | 'turns'>,
  { tenantId, streams }: Target,
  from: Source,
): Promise<Loaded> {
  const views = new Map<string, TokenView>();
  const fromRows = new Set<string>();
  const slices = vault.turns.begin(tenantId);
  for (const stream of streams) {
    if (views.size > 0) await slices.pause();
    const row = from === 'rows' ? await liveRow(vault, stream) : null;
    if (row !== null) fromRows.add(stream);
    const view = from === 'nothing' ? emptyView(stream, tenantId) : row;
    views.set(stream, view ?? (await loadToken(vault, tenantId, stream, slices.pause)));
  }
  return { views, fromRows };
}

/**
 * Returns the row of a live token. Returns null if the token must be loaded from the log: if there is no such row, or
 * if the row is forged or older. Threat: an attacker puts an older row back, so that an update that changes nothing
 * reads data that the caller may no longer see. The revision that is stored with the key shows that the row is older.
 */
async function liveRow({ rows, keys }: Pick<Vault, 'keys' | 'rows'>, stream: string): Promise<TokenView | null> {
  try {
    const row = await rows.get(stream);
    if (row === null || row.state.life === null) return null;
    const used = await keys.use(row.tenantId, row.state.life.key, () => null);
    return used.state === 'open' && row.state.revision >= (used.revision ?? -1) ? row : null;
  } catch (error) {
    if (error instanceof ForgedRow) return null;
    throw error;
  }
}

async function seal(
  vault: Pick<Vault, 'directory' | 'keys' | 'random' | 'turns'>,
  { tenantId, tenantKeys }: Target,
  before: ReadonlyMap<string, TokenView>,
  writes: readonly TokenWrite[],
  origin: EventOrigin,
): Promise<SealedWrites> {
  const slices = vault.turns.begin(tenantId);
  const views = new Map(before);
  const sealedWrites: { readonly write: TokenWrite; readonly sealed: Sealed }[] = [];
  for (const write of writes) {
    if (sealedWrites.length > 0) await slices.pause();
    const sealed = await sealEvents(vault, tenantKeys, write.view, write.decisions, write.payload, origin);
    sealedWrites.push({ write, sealed });
    views.set(write.view.stream, sealed.view);
  }
  return { writes: sealedWrites, viewOf: viewIn(views) };
}

function viewIn(views: ReadonlyMap<string, TokenView>): ViewOf {
  return (stream) => {
    const view = views.get(stream);
    if (view === undefined) throw new Error('a command used a stream that is not among its targets');
    return view;
  };
}

/**
 * Returns `all` if the whole change was stored. If another writer committed first, returns the streams of the writes
 * that were stored nevertheless.
 */
async function append(
  vault: Pick<Vault, 'clock' | 'integrity' | 'work'>,
  { writes: decided }: SealedWrites,
  result: ClaimResult | null,
  { cmd }: EventOrigin,
): Promise<'all' | ReadonlySet<string>> {
  const writes = decided
    .map(({ write, sealed }) => streamWrite(vault, write, sealed))
    .filter((write) => write !== null);
  const finished = cmd === null || result === null ? null : { cmd, result, time: latestNow(vault.clock) };
  const claim = finished === null ? null : withClaimMac(vault.integrity.rows, finished);
  if (writes.length === 0 && claim === null) return 'all';
  const committed = await vault.work.commit({ writes, claim });
  if (committed.outcome === 'committed') return 'all';
  if (committed.outcome === 'claimed') throw new StoreUnavailable('claims', 'taken_over');
  const landed = committed.outcome === 'conflict' ? (committed.landed ?? []) : [];
  return new Set(landed.flatMap((index) => writes[index]?.stream ?? []));
}

function streamWrite(
  { clock, integrity }: Pick<Vault, 'clock' | 'integrity'>,
  { view, index, distinctFingerprint }: TokenWrite,
  sealed: Sealed,
): StreamWrite | null {
  if (sealed.events.length === 0) return null;
  const { stream, tenantId, state } = view;
  return {
    stream,
    expectedRevision: state.revision,
    events: sealed.events,
    row: { of: 'token', view: withTokenMac(integrity.rows, sealed.view), index },
    distinct: distinctFingerprint === null ? null : { tenantId, now: latestNow(clock), ...distinctFingerprint },
  };
}

function endingsOf({ writes }: SealedWrites) {
  return writes
    .filter(({ sealed: { events } }) => events.some(({ type }) => endsToken(type)))
    .map(({ write: { view }, sealed }) => ({ view, sealed }));
}

/**
 * Returns the views whose rows must be up to date before the change is stored:
 *
 * - the tokens that the command does not change, because its response may depend on their newest events,
 * - the tokens that it changes for the first time. Threat: the request that created such a token has failed halfway, so
 *   the creation is undone later, together with a change that was acknowledged. An earlier change proves that the
 *   creation succeeded. A deletion is exempt, because undoing the creation removes the token anyway.
 */
function mustBeProjected(views: ReadonlyMap<string, TokenView>, { writes }: SealedWrites): readonly TokenView[] {
  const exempt = new Set(
    writes
      .filter(({ sealed: { events } }) => events.length > 0)
      .filter(({ write, sealed }) => write.view.state.life?.modifiedAt !== null || sealed.view.state.life === null)
      .map(({ write }) => write.view.stream),
  );
  return [...views.values()].filter(({ stream }) => !exempt.has(stream));
}

/** Returns the keys that the events of a target mark for destruction. A view that is a row does not contain them. */
type EndedOf = (stream: string) => Promise<readonly EndedKeyState[]>;

/**
 * Returns the keys to destroy after an append. A command without events may be the retry of a command that could not
 * reach the key store, so it destroys the keys that earlier events marked for destruction.
 */
async function endedIn({ writes }: SealedWrites, endedOf: EndedOf): Promise<readonly EndedKeyState[]> {
  const ended: EndedKeyState[] = [];
  for (const { sealed } of writes) {
    const keys = sealed.events.length === 0 ? await endedOf(sealed.view.stream) : endedKeys(sealed.events);
    // After a hundred thousand updates, a token has more ended keys than a call may have arguments.
    for (const key of keys) ended.push(key);
  }
  return ended;
}

async function settle(
  { timers, keys, vocabularies }: Pick<Vault, 'keys' | 'timers' | 'vocabularies'>,
  sealedWrites: SealedWrites,
  ended: readonly EndedKeyState[],
): Promise<void> {
  const { writes } = sealedWrites;
  for (const { view } of endingsOf(sealedWrites)) vocabularies.tokensEnded(view.tenantId);
  for (const { write, sealed } of writes) {
    const due = dueRowsOf(sealed.view);
    for (const row of due) timers.set(row);
    // Clears timers that no longer apply, because nothing outside the log may name an erased token.
    for (const row of dueRowsOf(write.view)) if (!due.some((left) => isSame(left, row))) timers.clear(row);
  }
  // For the same reason, a command without events records the revisions of the token's living keys again.
  const advanced = writes.flatMap(({ write, sealed: { events, view } }) =>
    events.length === 0 ? livingKeys(view) : advancedKeys(events, write.view.state.revision),
  );
  if (ended.length > 0) await keys.destroy(ended, advanced);
  else if (advanced.length > 0) await keys.advance(advanced);
}

/** Returns the time when a token expires, and the time when its cvc is due for purging. */
function dueRowsOf({ stream, tenantId, state }: TokenView): readonly DueRow[] {
  const { expiresAt = null, cvc = null } = state.life ?? {};
  const rows: DueRow[] = [];
  if (expiresAt !== null) rows.push({ stream, tenantId, due: 'expiry', dueAt: expiresAt });
  if (cvc !== null) rows.push({ stream, tenantId, due: 'cvc', dueAt: cvc.purgeAt });
  return rows;
}

function isSame(one: DueRow, other: DueRow): boolean {
  return one.due === other.due && one.dueAt === other.dueAt;
}

/**
 * Returns the keys that older versions of this token's row may name. Returns no keys if the token has not changed since
 * its creation.
 */
function livingKeys({ state: { life, revision } }: TokenView): readonly KeyRevision[] {
  if (life === null || revision === life.createdRevision) return [];
  return [life.key, ...life.superseded.slice(-1)].map((keyId) => ({ keyId, revision }));
}

/**
 * Resolves when the rows are at least as new as these views. Skips streams without events, because they have no rows.
 * Returns `outdated` if a token that was live and never changed has changed since its view was loaded. Threat: the
 * request that created the token had failed halfway, and the token was removed, so the view shows a token that never
 * existed. Other views may be outdated, because they show a state that did exist. A constantly changing token therefore
 * causes at most one retry of a command.
 */
export async function ensureProjected(
  { work }: Pick<Vault, 'work'>,
  views: Iterable<TokenView>,
): Promise<'outdated' | undefined> {
  const seen = [...views].filter(({ state }) => state.revision >= 0);
  if (seen.length === 0) return undefined;
  const newer = await work.follow(
    seen.map(({ stream, tenantId, state }) => ({ stream, tenantId, revision: state.revision })),
  );
  return seen.some(({ stream, state }) => newer.has(stream) && state.life?.modifiedAt === null)
    ? 'outdated'
    : undefined;
}

/**
 * For views that were loaded from the log. Returns true if one of the tokens that had no events has been created since.
 * Throws ForgedLog if such a token has a live row, but still no events. Threat: an attacker who can write to the log
 * hides the token's stream, so that a deletion finds no token, while its data can still be read. If the whole log ends
 * before the token was created, no stream is hidden: EventStoreDB's former leader responded, or an older log was put
 * back. In that case, throws StoreUnavailable.
 */
async function isCreatedSince(
  vault: Pick<Vault, 'keys' | 'log' | 'rows'>,
  views: Iterable<TokenView>,
): Promise<boolean> {
  const absent = [...views].filter(({ state }) => state.revision < 0);
  for (const row of await Promise.all(absent.map(({ stream }) => liveRow(vault, stream)))) {
    if (row === null) continue;
    // The head is read first. If the leader changes between the two reads, the later one comes from the newer log.
    const head = await vault.log.head();
    const [first] = await vault.log.readClearFrom(row.stream, 0, 1);
    if (first !== undefined) return true;
    if (head < (row.state.life?.createdPosition ?? 0)) throw new StoreUnavailable('event log', 'behind_rows');
    throw ForgedLog.at({ position: null, stream: row.stream, revision: 0 }, 'is missing');
  }
  return false;
}

/**
 * Returns true if another process changed or deleted the token after this process loaded it. In that case, the key that
 * `error` reports as lost was destroyed on purpose.
 */
async function movedOn(
  vault: Pick<Vault, 'log'>,
  views: ReadonlyMap<string, TokenView>,
  error: unknown,
): Promise<boolean> {
  const view = error instanceof KeyLost ? views.get(error.stream) : undefined;
  if (view === undefined) return false;
  const now = await loadToken(vault, view.tenantId, view.stream);
  return now.state.revision !== view.state.revision;
}
