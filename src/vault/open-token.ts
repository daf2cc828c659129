import type { TokenContent } from '../domain/token/content.js';
import type { TokenLife } from '../domain/token/token-state.js';
import { cvcAt } from '../domain/token/token-state.js';
import { openJson } from '../events/sealing/json-ciphertext.js';
import { latestForCodes } from '../ports/clock.js';
import type { TokenView } from '../views/token-view.js';
import { Decrypted } from './decrypted.js';
import { KeyLost } from './key-lost.js';
import { keyNotThere, TenantGone } from './tenant-gone.js';
import type { Keys } from './tenant-keys.js';
import type { Vault } from './vault.js';

/** A decrypted token, and what decisions about it need: its id, and the fields that decide who may read it. */
export type OpenToken = {
  readonly id: string;
  readonly containers: readonly string[];
  readonly fingerprint: string;
  readonly content: Decrypted<TokenContent>;
  readonly cvc: Decrypted<string> | null;
};

/** Wraps the content of a token. */
export function openTokenOf(content: TokenContent, cvc: Decrypted<string> | null): OpenToken {
  const { id, containers, fingerprint } = content;
  return { id, containers, fingerprint, content: new Decrypted(content), cvc };
}

/**
 * Decrypts a living token, without a cvc past its hour. Returns null if one of its keys was destroyed. Then either the
 * view is older than a deletion, or the key is lost; the caller must read again to find out which. Throws TenantGone
 * and KeyLost.
 */
export async function openToken(vault: Vault, view: TokenView, life: TokenLife): Promise<OpenToken | null> {
  return (await openAll(vault, view, life))?.open ?? null;
}

/**
 * Decrypts a living token that is known only by its row, like `openToken`. `newest` is its newest revision that the key
 * store remembers. Threat: an attacker that can write the rows puts back a row from before a change of containers,
 * expiry or data.
 */
export async function openRow(
  vault: Vault,
  view: TokenView,
  life: TokenLife,
): Promise<{ readonly open: OpenToken; readonly newest: number } | null> {
  const opened = await openAll(vault, view, life);
  return opened === null ? null : { open: opened.open, newest: opened.revision ?? life.contentRevision };
}

async function openAll(vault: Vault, view: TokenView, life: TokenLife) {
  const due = cvcAt(life, latestForCodes(vault.clock));
  const [content, cvc] = await Promise.all([
    openBoxOf(vault, view, life.key, life.contentRevision, 'content'),
    due === null ? null : openBoxOf(vault, view, due.key, due.revision, 'cvc'),
  ]);
  if (content === null || (due !== null && cvc === null)) return null;
  // Checked again after the wait for a key: the hour may have ended in the meantime.
  const shown =
    due !== null && cvc !== null && latestForCodes(vault.clock) < due.purgeAt ? (cvc.value as string) : null;
  const open = openTokenOf(content.value as TokenContent, shown === null ? null : new Decrypted(shown));
  return { open, revision: content.revision };
}

/** Decrypts only the content; otherwise like `openToken`. */
export async function openContent(vault: Keys, view: TokenView, life: TokenLife): Promise<OpenToken | null> {
  const content = await openBoxOf(vault, view, life.key, life.contentRevision, 'content');
  return content === null ? null : openTokenOf(content.value as TokenContent, null);
}

async function openBoxOf(
  vault: Keys,
  { stream, tenantId, ...boxes }: TokenView,
  keyId: string,
  revision: number,
  field: 'content' | 'cvc',
) {
  const box = boxes[field];
  if (box === null) throw new KeyLost(stream, 'box_damaged');
  const opened = await vault.keys.use(tenantId, keyId, (key) =>
    openJson(key, box, { tenantId, stream, revision, keyId, field }),
  );
  if (opened.state !== 'open') {
    const error = await keyNotThere(vault, tenantId, stream, 'key_missing');
    if (opened.state === 'missing' || error instanceof TenantGone) throw error;
    return null;
  }
  if (opened.value === undefined) throw new KeyLost(stream, 'box_damaged');
  return { value: opened.value, revision: opened.revision };
}
