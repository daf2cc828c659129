import type { KeyRing } from '../../keys/key-ring.js';
import type { Metrics } from '../../ports/metrics.js';

/** Returns the same key ring. It counts destroyed keys in the metrics. */
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
