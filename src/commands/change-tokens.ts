import type { TokenDecision } from '../domain/token/decide.js';
import { advancedKeys } from '../events/advanced-keys.js';
import { endedKeys } from '../events/ended-keys.js';
import { type KeyRevision, keyNamedWithinMs, type TenantKeys } from '../ports/key-ring.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import type { DueRow } from '../ports/token-rows.js';
import type { RowIndex, StreamWrite } from '../ports/unit-of-work.js';
import { KeyLost } from '../vault/key-lost.js';
import { loadToken } from '../vault/load-token.js';
import type { Vault } from '../vault/vault.js';
import type { ClaimResult } from '../views/finished-claim.js';
import { withClaimMac, withTokenMac } from '../views/row-mac.js';
import { emptyView, type TokenView } from '../views/token-view.js';
import { dueRowsOf } from './due-rows-of.js';
import type { EventOrigin, RequestOrigin } from './event-origin.js';
import { rowsFollow } from './rows-follow.js';
import { type Payload, type Sealed, sealEvents } from './seal-events.js';
import { lost, settled, settleRace } from './settle-race.js';

/** The decision for one stream, based on the view that was loaded. */
export type TokenWrite = {
  readonly view: TokenView;
  /** If empty, nothing is appended, and keys that the stream has ended are destroyed again. */
  readonly decisions: readonly TokenDecision[];
  readonly payload: Payload;
  readonly index: RowIndex;
  /** Keyed fingerprint that no other living token may have. */
  readonly distinctFingerprint: string | null;
};

/** The view of one of the targets, by its stream. */
export type ViewOf = (stream: string) => TokenView;

/** The result of one attempt at a command on several tokens, after it has read their streams. */
export type JointAttempt<T> =
  | { readonly do: 'answer'; readonly answer: T }
  | {
      readonly do: 'store';
      /** At most one per stream. */
      readonly writes: readonly TokenWrite[];
      /** The result for a repeat with the same idempotency key; null: nothing is remembered. */
      claim(after: ViewOf): ClaimResult | null;
      answer(after: ViewOf): T;
    };

/** The tokens to change: their streams, and the keys of their tenant. Without keys, no trace id is stored. */
export type Targets = {
  readonly tenantId: string;
  readonly tenantKeys: TenantKeys | null;
  readonly streams: ReadonlySet<string>;
  /**
   * Their names were just generated at random: the first attempt reads nothing, and its append fails if one is in
   * use.
   */
  readonly areNew?: boolean;
};

/**
 * The write path (docs/design.md, "A write, step by step"): load, decide, seal, append all events with their rows or nothing,
 * destroy ended keys and note the revisions of living ones, return. `attempt` decides again after each conflict. Throws
 * StoreUnavailable after 5 s of conflicts, and if ended keys could not be destroyed in time; a repeat of the command finishes.
 */
export function changeTokens<T>(
  vault: Vault,
  { tenantId, tenantKeys, streams, areNew = false }: Targets,
  requested: RequestOrigin,
  attempt: (viewOf: ViewOf, at: number) => Promise<JointAttempt<T>>,
): Promise<T> {
  let readsNothing = areNew;
  return settleRace(vault, [...streams], async () => {
    const beganAt = performance.now();
    const views = new Map<string, TokenView>();
    const work = vault.turns.begin(tenantId);
    for (const stream of streams) {
      if (views.size > 0) await work.pause();
      views.set(
        stream,
        readsNothing ? emptyView(stream, tenantId) : await loadToken(vault, tenantId, stream, work.pause),
      );
    }
    readsNothing = false;
    // The time of this attempt: after a wait, the token may have expired.
    const at = vault.clock.now();
    const origin = { ...requested, at };
    const decided = await unlessMovedOn(vault, views, async () => {
      const tried = await attempt(viewIn(views), at);
      const sealed: Sealed[] = [];
      for (const { view, decisions, payload } of tried.do === 'store' ? tried.writes : []) {
        if (sealed.length > 0) await work.pause();
        sealed.push(await sealEvents(vault, tenantKeys, view, decisions, payload, origin));
      }
      return { tried, sealed };
    });
    if (decided === null) return lost;
    const { tried, sealed } = decided;
    const changed = sealed.filter(({ events }) => events.length > 0).map(({ view }) => view);
    const unchanged = [...views.values()].filter(({ stream }) => !changed.some((view) => view.stream === stream));
    if (tried.do === 'answer') {
      // The result may depend on a change whose process died before it wrote the row.
      await rowsFollow(vault, unchanged);
      return settled(tried.answer);
    }
    for (const view of changed) views.set(view.stream, view);
    if (performance.now() - beganAt > keyNamedWithinMs) throw new StoreUnavailable('event log', 'stopped_too_long');
    const after = viewIn(views);
    if (!(await store(vault, tried.writes, sealed, origin, tried.claim(after)))) return lost;
    await rowsFollow(vault, unchanged);
    await settle(vault, tried.writes, sealed);
    return settled(tried.answer(after));
  });
}

/**
 * Returns null if another process changed or deleted a token since it was loaded, and destroyed its key. Nothing is
 * lost then.
 */
async function unlessMovedOn<T>(
  vault: Vault,
  views: ReadonlyMap<string, TokenView>,
  decide: () => Promise<T>,
): Promise<T | null> {
  try {
    return await decide();
  } catch (error) {
    const view = error instanceof KeyLost ? views.get(error.stream) : undefined;
    if (view === undefined) throw error;
    const now = await loadToken(vault, view.tenantId, view.stream);
    if (now.state.revision === view.state.revision) throw error;
    return null;
  }
}

function viewIn(views: ReadonlyMap<string, TokenView>): ViewOf {
  return (stream) => {
    const view = views.get(stream);
    if (view === undefined) throw new Error('a command read a stream that it did not name');
    return view;
  };
}

/** Returns false if another writer was first; the caller then loads and decides again. */
async function store(
  vault: Vault,
  decided: readonly TokenWrite[],
  sealed: readonly Sealed[],
  { cmd, at }: EventOrigin,
  result: ClaimResult | null,
): Promise<boolean> {
  const writes = decided
    .map((write, index) => streamWrite(vault, write, sealed[index], at))
    .filter((write) => write !== null);
  const finished = cmd === null || result === null ? null : { cmd, result, time: at };
  const claim = finished === null ? null : withClaimMac(vault.integrity.rows, finished);
  if (writes.length > 0 || claim !== null) {
    const { outcome } = await vault.work.commit({ writes, claim });
    if (outcome === 'claimed') throw new StoreUnavailable('claims', 'taken_over');
    if (outcome !== 'committed') return false;
  }
  return true;
}

function streamWrite(
  { integrity }: Vault,
  { view, index, distinctFingerprint }: TokenWrite,
  sealed: Sealed | undefined,
  now: number,
): StreamWrite | null {
  if (sealed === undefined || sealed.events.length === 0) return null;
  const { stream, tenantId, state } = view;
  return {
    ...{ stream, expectedRevision: state.revision, events: sealed.events },
    row: { of: 'token', view: withTokenMac(integrity.rows, sealed.view), index },
    distinct: distinctFingerprint === null ? null : { tenantId, fingerprintHash: distinctFingerprint, now },
  };
}

async function settle(
  { timers, keys }: Vault,
  decided: readonly TokenWrite[],
  sealed: readonly Sealed[],
): Promise<void> {
  for (const [index, { view }] of sealed.entries()) {
    const due = dueRowsOf(view);
    for (const row of due) timers.set(row);
    // Nothing outside the log must name an erased token.
    for (const row of dueRowsOf(decided[index]?.view ?? view))
      if (!due.some((left) => isSame(left, row))) timers.clear(row);
  }
  // A command that changes nothing may repeat one that could not reach the key store.
  const ended = sealed.flatMap(({ events, view }) => (events.length === 0 ? view.state.ended : endedKeys(events)));
  const advanced = sealed.flatMap(({ events, view }, index) =>
    events.length === 0 ? livingKeys(view) : advancedKeys(events, decided[index]?.view.state.revision ?? -1),
  );
  if (ended.length > 0) await keys.destroy(ended, advanced);
  else if (advanced.length > 0) await keys.advance(advanced);
}

/** Returns the keys that older rows of this token may name; none if it was not changed since its creation. */
function livingKeys({ state: { life, revision } }: TokenView): readonly KeyRevision[] {
  if (life === null || revision === life.createdRevision) return [];
  return [life.key, ...life.superseded.slice(-1)].map((keyId) => ({ keyId, revision }));
}

function isSame(one: DueRow, other: DueRow): boolean {
  return one.due === other.due && one.dueAt === other.dueAt;
}
