import type { KeyRing } from '../../ports/key-ring.js';
import type { Metrics } from '../../ports/metrics.js';

/** The same keys; how many were destroyed is counted. */
export function countingKeyRing(keys: KeyRing, metrics: Metrics): KeyRing {
  return {
    ...keys,
    async destroy(...given) {
      const destroyed = await keys.destroy(...given);
      metrics.keysDestroyed(destroyed);
      return destroyed;
    },
  };
}
