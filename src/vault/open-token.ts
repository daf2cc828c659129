import type { Json } from '../domain/json.js';
import type { TokenContent } from '../domain/token/content.js';
import type { TokenLife } from '../domain/token/token-state.js';
import { cvcAt } from '../domain/token/token-state.js';
import { openJson } from '../events/sealing/json-ciphertext.js';
import { latestForCodes } from '../ports/clock.js';
import { after, all, type Maybe } from '../ports/maybe.js';
import type { TokenView } from '../views/token-view.js';
import { Decrypted } from './decrypted.js';
import { KeyLost } from './key-lost.js';
import { keyNotThere, TenantGone } from './tenant-gone.js';
import type { TenantKeysDeps } from './tenant-keys.js';
import type { Vault } from './vault.js';

export type OpenTokenDeps = TenantKeysDeps & Pick<Vault, 'clock'>;

/**
 * A decrypted token. Its id, containers and fingerprint are in plaintext, because decisions about the token need them.
 */
export type OpenToken = {
  readonly id: string;
  readonly containers: readonly string[];
  readonly fingerprint: string;
  readonly content: Decrypted<TokenContent>;
  readonly cvc: Decrypted<string> | null;
};

/** Returns an open token with this content and cvc. */
export function openTokenOf(content: TokenContent, cvc: Decrypted<string> | null): OpenToken {
  const { id, containers, fingerprint } = content;
  return { id, containers, fingerprint, content: new Decrypted(content), cvc };
}

/**
 * Decrypts a live token. A cvc that is due to be purged is not decrypted. Throws KeyLost if any of its keys was
 * destroyed: either the view is older than the token's deletion, or the key is lost. The write path reads the token
 * again to find out which. Throws TenantGone.
 */
export function openToken(vault: OpenTokenDeps, view: TokenView, life: TokenLife): Maybe<OpenToken> {
  return after(openRow(vault, view, life), (opened) => {
    if (opened === null) throw new KeyLost(view.stream, 'key_destroyed_without_event');
    return opened.open;
  });
}

/** A decrypted token, and the newest revision that the key store has recorded for it. */
export type OpenRow = { readonly open: OpenToken; readonly newest: number };

/**
 * Decrypts a live token from its row, as `openToken` does, but returns null if any of its keys was destroyed. Threat:
 * an attacker who can write the rows restores the row that the token had before a change of the containers, the expiry
 * or the data. The caller must therefore compare the revision of the view with `newest`.
 */
export function openRow(vault: OpenTokenDeps, view: TokenView, life: TokenLife): Maybe<OpenRow | null> {
  const due = cvcAt(life, latestForCodes(vault.clock));
  const content = openField(vault, view, life.key, life.contentRevision, 'content');
  if (due === null) return after(content, (opened) => openRowOf(life, opened, null));
  const cvc = openField(vault, view, due.key, due.revision, 'cvc');
  return after(all([content, cvc]), ([opened = null, code = null]) => {
    if (code === null) return null;
    // The purge time may have passed while the key was being read, so it is checked again.
    return openRowOf(life, opened, latestForCodes(vault.clock) < due.purgeAt ? code : null);
  });
}

function openRowOf(life: TokenLife, content: OpenField | null, cvc: OpenField | null): OpenRow | null {
  if (content === null) return null;
  const code = cvc === null ? null : new Decrypted(cvc.value as string);
  return {
    open: openTokenOf(content.value as TokenContent, code),
    newest: content.revision ?? life.contentRevision,
  };
}

/** Decrypts only the content of a live token, in the same way as `openRow`. */
export function openContent(vault: TenantKeysDeps, view: TokenView, life: TokenLife): Maybe<OpenToken | null> {
  return after(openField(vault, view, life.key, life.contentRevision, 'content'), (opened) =>
    opened === null ? null : openTokenOf(opened.value as TokenContent, null),
  );
}

/**
 * Like `openContent`, but also returns null if the key is lost. Use this for work that can continue without the
 * content. The loss is not reported here, because reads of the token report it.
 */
export async function contentUnlessLost(
  vault: TenantKeysDeps,
  view: TokenView,
  life: TokenLife,
): Promise<OpenToken | null> {
  try {
    return await openContent(vault, view, life);
  } catch (error) {
    if (error instanceof KeyLost) return null;
    throw error;
  }
}

/** A decrypted value, and the newest revision that was recorded for its key. */
type OpenField = { readonly value: Json; readonly revision: number | null };

function openField(
  vault: TenantKeysDeps,
  view: TokenView,
  keyId: string,
  revision: number,
  field: 'content' | 'cvc',
): Maybe<OpenField | null> {
  const { stream, tenantId, [field]: ciphertext } = view;
  if (ciphertext === null) return damaged(stream);
  const use = vault.keys.use(tenantId, keyId, (key) =>
    openJson(key, ciphertext, { tenantId, stream, revision, keyId, field }),
  );
  return after(use, (opened) => {
    if (opened.state !== 'open') return notOpened(vault, view, opened.state);
    if (opened.value === undefined) throw new KeyLost(stream, 'ciphertext_damaged');
    return { value: opened.value, revision: opened.revision };
  });
}

/** Returns a rejected promise instead of throwing, so that `all` still handles the result for the other ciphertext. */
async function damaged(stream: string): Promise<never> {
  throw new KeyLost(stream, 'ciphertext_damaged');
}

/** Returns null if the key may have been destroyed with its token. If not, throws TenantGone or KeyLost. */
async function notOpened(
  vault: TenantKeysDeps,
  { tenantId, stream }: TokenView,
  state: 'destroyed' | 'missing',
): Promise<null> {
  const error = await keyNotThere(vault, tenantId, stream, 'key_missing');
  if (state === 'missing' || error instanceof TenantGone) throw error;
  return null;
}
