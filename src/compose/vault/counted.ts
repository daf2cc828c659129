import type { KeyRing } from '../../keys/key-ring.js';
import type { Metrics } from '../../ports/metrics.js';
import type { WebhookSender } from '../../ports/webhook-sender.js';

/** Wraps a key ring so that the metrics count the destroyed keys. */
export function countedKeyRing(keys: KeyRing, metrics: Metrics): KeyRing {
  return {
    ...keys,
    async destroy(...given) {
      const destroyed = await keys.destroy(...given);
      metrics.keysDestroyed(destroyed);
      return destroyed;
    },
  };
}

/** Wraps a sender so that the metrics count the webhook requests. */
export function countedSender(sender: WebhookSender, metrics: Metrics): WebhookSender {
  return {
    ...sender,
    async post(...given) {
      const outcome = await sender.post(...given);
      const isAccepted = outcome.kind === 'responded' && outcome.status >= 200 && outcome.status < 300;
      metrics.webhookSent(isAccepted ? 'accepted' : 'failed');
      return outcome;
    },
  };
}
