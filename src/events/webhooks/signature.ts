import { createHmac } from 'node:crypto';

/**
 * Returns the headers of a delivery, as specified by Standard Webhooks: the message id, the time in seconds, and one
 * signature per secret (HMAC-SHA-256 over the id, time and body). A receiver that has any of the secrets can verify the
 * delivery.
 */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  at: number,
  body: string,
): Readonly<Record<string, string>> {
  const time = String(Math.floor(at / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`;
  });
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Strongroom-Webhooks',
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': signatures.join(' '),
  };
}
