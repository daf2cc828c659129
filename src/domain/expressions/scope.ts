import type { Json } from '../json.js';
import type { Steps } from '../steps.js';
import type { Budget } from './budget.js';
import type { Refusal } from './refusal.js';

/**
 * Returns a whole number from 0 to `maxExclusive` - 1 from a cryptographic source. Injected, so that tests control it.
 */
export type RandomBelow = (maxExclusive: number) => number;

/** What a compiled expression runs over. */
export type Scope = {
  readonly data: Json;
  readonly metadata: Json;
  readonly budget: Budget;
  readonly random: RandomBelow | undefined;
  /**
   * `reveal_last` hides all of a value that it would otherwise show completely, as in the default masks of bank
   * accounts.
   */
  readonly hideShortValues: boolean;
};

/** A compiled operand of a `{{ }}` object. */
export type Evaluate = (scope: Scope) => Json | Refusal;

/** A compiled `{{ }}` object. It yields after each filter, because one may take milliseconds over a large value. */
export type EvaluateObject = (scope: Scope) => Steps<Json | Refusal>;
