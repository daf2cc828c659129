import { z } from 'zod';
import { operation } from './operation.js';

/** Begins to rotate all keys in the process that holds the data; `rotationState` says how far it is. */
export const rotateKeys = operation(z.object({}), async ({ rotation }) => {
  rotation.start();
  return rotation.state();
});

export const rotationState = operation(z.object({}), async ({ rotation }) => rotation.state());
