import { openCiphertext, sealCiphertext } from '../sealing/ciphertext.js';

type Place = { readonly tenantId: string; readonly stream: string; readonly revision: number };
type WebhookKey = { readonly id: string; readonly id_key: string };

/** Seals a token's id for a webhook. The ciphertext is bound to the event that deletes or expires the token. */
export function sealTokenId(webhook: WebhookKey, tokenId: string, place: Place): Buffer {
  return sealCiphertext(Buffer.from(webhook.id_key, 'base64'), Buffer.from(tokenId), ciphertextPlace(webhook, place));
}

/** Decrypts a sealed id. Returns null if the ciphertext is damaged or belongs to a different event. */
export function openTokenId(webhook: WebhookKey, sealed: Uint8Array, place: Place): string | null {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
  const plain = openCiphertext(Buffer.from(webhook.id_key, 'base64'), bytes, ciphertextPlace(webhook, place));
  return plain?.toString('utf8') ?? null;
}

function ciphertextPlace({ id }: WebhookKey, { tenantId, stream, revision }: Place) {
  return { tenantId, stream, revision, keyId: `webhook-${id}`, field: 'content' } as const;
}
