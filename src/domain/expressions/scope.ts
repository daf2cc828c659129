import type { Json } from '../json.js';
import type { Steps } from '../steps.js';
import type { Budget } from './budget.js';
import type { Refusal } from './refusal.js';

/**
 * Returns a cryptographically secure random integer from 0 to `maxExclusive` - 1. Injected, so that tests can control
 * it.
 */
export type RandomBelow = (maxExclusive: number) => number;

/** The inputs of a compiled expression. */
export type Scope = {
  readonly data: Json;
  readonly metadata: Json;
  readonly budget: Budget;
  readonly random: RandomBelow | undefined;
  /**
   * If true, `reveal_last` hides a value that it would otherwise show completely. The default masks of bank accounts
   * use this option.
   */
  readonly hideShortValues: boolean;
};

/** A compiled operand of a `{{ }}` object. */
export type Evaluate = (scope: Scope) => Json | Refusal;

/** A compiled `{{ }}` object. It yields after each filter, because a filter may take milliseconds on a large value. */
export type EvaluateObject = (scope: Scope) => Steps<Json | Refusal>;
