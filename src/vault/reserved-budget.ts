import { LRUCache } from 'lru-cache';
import type { Caller } from '../domain/access/caller.js';
import { clocksApartMs, type GuessBudget } from '../domain/guess-budget.js';
import type { BudgetName, Budgets } from '../ports/budgets.js';
import type { Clock } from '../ports/clock.js';

/** The part of an application's budget that this process has reserved but not spent yet. */
type Block = {
  left: number;
  /** The end of the window that the block belongs to. It is infinite before the first reservation. */
  endsAt: number;
  /** True if the store has nothing left to reserve in this window. */
  storeIsEmpty: boolean;
  /** The number of hits that have not been reported to the store yet. */
  hits: number;
  refill: Promise<void> | null;
};

/**
 * The maximum number of blocks. When there are more blocks, the least recently used block is dropped, and its
 * application loses the rest of this block.
 */
const applicationsMax = 10_000;

export type Taken =
  /** `giveBack` reports `hits` hits, and refunds the charge for `free` guesses. */
  | { readonly ok: true; giveBack(hits: number, free: number): void }
  | { readonly ok: false; readonly retryAfterMs: number };

/**
 * Each of these functions is called at most once per application per window, in the process whose reservation triggered
 * it.
 */
export type BudgetEvents = {
  exhausted(caller: Caller): Promise<void>;
  suspected(caller: Caller): Promise<void>;
};

export type ReservedBudget = {
  /**
   * Spends `amount` guesses from the budget. If fewer are left, uses them up and rejects the request. If `amount` is 0,
   * spends nothing, but rejects the request if the budget is used up. The process reserves a block in the store before
   * it spends guesses from the block. A crash therefore cannot refund spent guesses, but an application loses the rest
   * of its block.
   */
  take(caller: Caller, amount: number): Promise<Taken>;
};

/** Returns an hourly budget. It is spent in blocks that are reserved in `budgets`. */
export function reservedBudget(
  budgets: Budgets,
  name: BudgetName,
  budget: GuessBudget,
  clock: Clock,
  events: BudgetEvents,
): ReservedBudget {
  const blocks = new LRUCache<string, Block>({ max: applicationsMax });

  function blockOf(applicationId: string, now: number): Block {
    const known = blocks.get(applicationId);
    const isPresent =
      known !== undefined &&
      (known.endsAt === Number.POSITIVE_INFINITY ||
        (now < known.endsAt && known.endsAt <= now + budget.windowMs + clocksApartMs));
    if (isPresent) return known;
    const fresh: Block = { left: 0, endsAt: Number.POSITIVE_INFINITY, storeIsEmpty: false, hits: 0, refill: null };
    blocks.set(applicationId, fresh);
    return fresh;
  }

  async function refill(block: Block, caller: Caller, need: number, spare: 'none' | 'block'): Promise<void> {
    const { hits } = block;
    const request = { need, spare, hits, now: clock.now() };
    const { granted, endsAt, exhausts, suspects } = await budgets.reserve(name, caller.applicationId, budget, request);
    // The store has begun a new window, so the rest of the old block is no longer valid.
    if (block.endsAt !== endsAt) block.left = 0;
    block.left += granted;
    block.endsAt = endsAt;
    block.hits -= hits;
    block.storeIsEmpty = granted < need;
    if (suspects) await events.suspected(caller);
    if (exhausts) await events.exhausted(caller);
  }

  return {
    async take(caller, amount) {
      for (;;) {
        const now = clock.now();
        const block = blockOf(caller.applicationId, now);
        const need = Math.max(amount, 1);
        if (block.left >= need) {
          block.left -= amount;
          return { ok: true, giveBack: givesBack(block) };
        }
        if (block.storeIsEmpty) {
          block.left = 0;
          return { ok: false, retryAfterMs: block.endsAt - now };
        }
        // A request that makes no guess only checks that some budget is left, so the process reserves just enough for
        // this check. If every process reserved a whole block, a small budget could be used up although no guess was
        // made.
        const spare = amount === 0 ? 'none' : 'block';
        block.refill ??= refill(block, caller, need - block.left, spare).finally(() => {
          block.refill = null;
        });
        await block.refill;
      }
    },
  };
}

function givesBack(block: Block): (hits: number, free: number) => void {
  let isReported = false;
  return (hits, free) => {
    if (isReported) return;
    isReported = true;
    block.left += free;
    block.hits += hits;
  };
}
