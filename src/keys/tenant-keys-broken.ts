import { StoreProblem } from '../ports/store-problem.js';

/**
 * Thrown if the keys of one tenant are missing or do not open, although the key store itself can be used. The message
 * tells the operator how to fix it.
 */
export class TenantKeysBroken extends StoreProblem {
  constructor(problem: string) {
    super(problem);
    this.name = 'TenantKeysBroken';
  }
}
