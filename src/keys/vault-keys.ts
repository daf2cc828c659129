import { createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto';
import { type KeyStore, type VaultKeyPurpose, vaultKeyTenant } from '../ports/key-store.js';
import type { IntegrityKeys, SigningKey } from './key-ring.js';
import { keyBytes } from './random-key.js';
import type { RootKeys } from './root-keys.js';
import { newTenantKey, openTenantKey } from './tenant-key.js';

/** The bytes that precede the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Derives the signing key from 32 random bytes, and zeroes these bytes. */
export function signingKeyOf(seed: Buffer): SigningKey {
  const der = Buffer.concat([pkcs8Head, seed]);
  seed.fill(0);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  const publicKey = createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }).toString();
  return { publicKey, sign: (bytes) => sign(null, bytes, privateKey) };
}

/** Derives the integrity keys from 32 random bytes (HKDF, RFC 5869), and zeroes these bytes. */
export function integrityKeysOf(secret: Buffer): IntegrityKeys {
  const derive = (purpose: keyof IntegrityKeys): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `strongroom.integrity.${purpose}`, keyBytes));
  const keys = {
    commits: derive('commits'),
    rows: derive('rows'),
    backups: derive('backups'),
    cursors: derive('cursors'),
    console: derive('console'),
  };
  secret.fill(0);
  return keys;
}

/**
 * Returns a function that reads and unwraps one of the vault's keys. If the key is not in the store yet, the function
 * creates it. If the key cannot be unwrapped, the function throws the store's error.
 */
export function createVaultKey<T>(
  store: KeyStore,
  roots: RootKeys,
  purpose: VaultKeyPurpose,
  keyOf: (secret: Buffer) => T,
): () => Promise<T> {
  const find = async () => (await store.readTenantKeys(vaultKeyTenant)).find((row) => row.purpose === purpose) ?? null;

  async function secret(): Promise<Buffer | null> {
    const row = await find();
    const wrapped = row?.wrapped ?? null;
    return row === null || wrapped === null ? null : roots.open((rootKey) => openTenantKey(rootKey, wrapped, row));
  }

  return keptOnceOpened(async () => {
    if ((await find()) === null) {
      await roots.wrapping((rootKey, check) =>
        store.insertTenantKeys([newTenantKey(rootKey, vaultKeyTenant, purpose, 1)], check),
      );
    }
    const opened = await roots.retry(secret, (found) => found !== null);
    if (opened === null)
      throw store.broken(`the ${purpose} key in ${store.title} does not open: restore ${store.title} from a backup.`);
    return keyOf(opened);
  });
}

/**
 * Returns a function that unwraps a key on the first call, and returns the same key on every later call. If the first
 * call fails, the next call retries.
 */
function keptOnceOpened<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}
