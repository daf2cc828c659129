import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Caller } from '../domain/access/caller.js';
import type { Vault } from '../vault/vault.js';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const positionBytes = 8;
const cursorBytes = nonceBytes + positionBytes + tagBytes;

/** The request that a cursor belongs to: the permission of the route, and the filters in a fixed order. */
export type CursorScope = { readonly permission: string; readonly asked: unknown };

/**
 * Encrypts a log position as a cursor (docs/adr/0049-cursors-of-lists.md). Threat: plaintext positions would tell a
 * caller how much all tenants write in total. The cursor is bound to the caller and the request. The vault rejects it
 * if the caller or the request is different.
 */
export function sealCursor(
  vault: Pick<Vault, 'integrity' | 'random'>,
  caller: Caller,
  scope: CursorScope,
  position: number,
): string {
  const nonce = vault.random.bytes(nonceBytes);
  const cipher = createCipheriv(algorithm, vault.integrity.cursors, nonce, { authTagLength: tagBytes });
  cipher.setAAD(boundTo(caller, scope));
  const plain = Buffer.alloc(positionBytes);
  plain.writeBigUInt64BE(BigInt(position));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

/**
 * Returns the position in a cursor. Returns null if this vault did not issue the cursor to this caller for this
 * request.
 */
export function openCursor(
  vault: Pick<Vault, 'integrity'>,
  caller: Caller,
  scope: CursorScope,
  cursor: string,
): number | null {
  const sealed = Buffer.from(cursor, 'base64url');
  if (sealed.length !== cursorBytes || sealed.toString('base64url') !== cursor) return null;
  const decipher = createDecipheriv(algorithm, vault.integrity.cursors, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(boundTo(caller, scope));
  decipher.setAuthTag(sealed.subarray(cursorBytes - tagBytes));
  try {
    const plain = Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    return Number(plain.readBigUInt64BE());
  } catch {
    return null;
  }
}

function boundTo({ tenantId, applicationId }: Caller, { permission, asked }: CursorScope): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([tenantId, applicationId, permission, asked]))
    .digest();
}
