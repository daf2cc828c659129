import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { SigningKey } from '../../ports/key-ring.js';

/** The signing key belongs to no tenant, and lies among their keys so that whatever rewraps these rewraps it too. */
export const signingKeyName = { tenant: '', purpose: 'audit-signing' } as const;

/** What stands before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The signing key of 32 random bytes, which are zeroed. */
export function signingKeyOf(seed: Buffer): SigningKey {
  const der = Buffer.concat([pkcs8Head, seed]);
  seed.fill(0);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  const publicKey = createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }).toString();
  return { publicKey, sign: (bytes) => sign(null, bytes, privateKey) };
}

/** Opens the key when it is first asked for and answers the same from then on; a failed attempt is made again. */
export function keptOnceOpened(open: () => Promise<SigningKey>): () => Promise<SigningKey> {
  let opened: Promise<SigningKey> | null = null;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}
