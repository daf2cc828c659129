import { isAccepted } from '../../commands/webhooks/post-to-webhook.js';
import type { KeyRing } from '../../keys/key-ring.js';
import type { Metrics } from '../../ports/metrics.js';
import type { SendOutcome, WebhookSender } from '../../ports/webhook-sender.js';

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
  async function counted(sent: Promise<SendOutcome>): Promise<SendOutcome> {
    const outcome = await sent;
    metrics.webhookSent(isAccepted(outcome) ? 'accepted' : 'failed');
    return outcome;
  }
  return {
    ...sender,
    post: (...given) => counted(sender.post(...given)),
    postTest: (...given) => counted(sender.postTest(...given)),
  };
}
