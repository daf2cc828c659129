import type { TokenDecision } from '../domain/token/decide.js';
import { endedKeys } from '../events/ended-keys.js';
import type { ClaimResult } from '../ports/claims.js';
import type { EndedKey, TenantKeys } from '../ports/key-ring.js';
import type { RowIndex } from '../ports/unit-of-work.js';
import type { TokenView } from '../projections/token-view.js';
import type { EventOrigin } from './event-origin.js';
import { loadToken } from './load-token.js';
import { type Payload, type Sealed, sealEvents } from './seal-events.js';
import { lost, settled, settleRace } from './settle-race.js';
import type { Vault } from './vault.js';

/** What one try at a command comes to, after it has seen the stream. */
export type Attempt<T> =
  | { readonly do: 'answer'; readonly answer: T }
  | {
      readonly do: 'store';
      /** Empty: nothing is appended, and only the idempotency claim is stored. */
      readonly decisions: readonly TokenDecision[];
      readonly payload: Payload;
      readonly index: RowIndex;
      /** Keyed fingerprint that no other living token may have. */
      readonly distinctFingerprint: string | null;
      /** What a repeat of the request is told to look at, when that is not the token itself. */
      readonly claims?: ClaimResult;
      answer(view: TokenView): T;
    };

/** The token to change: its stream, by the keys of its tenant. Without keys no trace id can be sealed. */
export type Target = { readonly tenantId: string; readonly tenantKeys: TenantKeys | null; readonly stream: string };

/**
 * The write path: load, decide, seal, append with the row, destroy ended keys, answer (architecture, "A write, step by
 * step"). `attempt` decides again after each conflict. Throws StoreUnavailable after 5 s of conflicts, and when ended
 * keys could not be destroyed yet; a repeat of the command finishes that.
 */
export function changeToken<T>(
  vault: Vault,
  target: Target,
  origin: EventOrigin,
  attempt: (view: TokenView) => Promise<Attempt<T>>,
): Promise<T> {
  return settleRace(vault, target.stream, async () => {
    const view = await loadToken(vault, target.tenantId, target.stream);
    const tried = await attempt(view);
    if (tried.do === 'answer') return settled(tried.answer);
    const sealed = await sealEvents(vault, target.tenantKeys, view, tried.decisions, tried.payload, origin);
    return (await store(vault, view, sealed, tried, origin)) ? settled(tried.answer(sealed.view)) : lost;
  });
}

/** False: somebody was first. Then everything is looked at again. */
async function store<T>(
  vault: Vault,
  view: TokenView,
  { events, view: next }: Sealed,
  { index, distinctFingerprint, claims }: Extract<Attempt<T>, { do: 'store' }>,
  { cmd, at }: EventOrigin,
): Promise<boolean> {
  const { stream, tenantId } = view;
  const write = {
    ...{ stream, expectedRevision: view.state.revision, events },
    row: { of: 'token', view: next, index } as const,
    distinct: distinctFingerprint === null ? null : { tenantId, fingerprintHash: distinctFingerprint, now: at },
  };
  const result = claims ?? claimOf(next);
  const claim = cmd === null || result === null ? null : { cmd, result, time: at };
  const { outcome } = await vault.work.commit({ writes: events.length === 0 ? [] : [write], claim });
  if (outcome !== 'committed') return false;
  // A command that finds its change made may be the repeat of one whose keys could not be destroyed yet.
  await settle(vault, next, events.length === 0 ? next.state.ended : endedKeys(events));
  return true;
}

function claimOf({ stream, state }: TokenView): ClaimResult | null {
  if (state.life === null) return null;
  return { tokens: [{ stream, createdRevision: state.life.createdRevision }], deduplicated: false };
}

async function settle({ timers, keys }: Vault, { state }: TokenView, ended: readonly EndedKey[]): Promise<void> {
  for (const dueAt of [state.life?.expiresAt, state.life?.cvc?.purgeAt]) {
    if (typeof dueAt === 'number') timers.dueAt(dueAt);
  }
  if (ended.length > 0) await keys.destroy(ended);
}
