import type { RandomBelow, Scope } from '../scope.js';

/** The random source of an evaluation. That an alias is evaluated without one is a bug of the caller. */
export function randomSource(scope: Scope): RandomBelow {
  if (scope.random === undefined) throw new Error('an alias filter was evaluated without a random source');
  return scope.random;
}
