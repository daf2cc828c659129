import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { ConsoleSessions, StoredConsoleSession } from '../ports/console-sessions.js';
import type { Random } from '../ports/random.js';

/**
 * The credentials with which a console session was opened. Keys are stored as hashes, because the directory finds a key
 * by its hash.
 */
export type ConsoleCredentials = {
  readonly privateKeyHash: string | null;
  readonly managementKeyHash: string | null;
  readonly isOperator: boolean;
  /** The membership that an identity provider stated. Null if the person signed in with keys or a code. */
  readonly membership: ConsoleMembership | null;
};

/** A person's groups. On every request, the vault looks up again what the settings allow these groups to open. */
export type ConsoleMembership = {
  readonly issuer: string;
  readonly subject: string;
  /** Those of the person's groups that the settings name. */
  readonly groups: readonly string[];
};

/** The content of a session. It grants no rights, because every request authenticates the keys or groups again. */
export type ConsoleSession = ConsoleCredentials & {
  readonly kind: 'session';
  /** The person's name. `issuer` is the identity provider that stated the name, or null if the person typed it. */
  readonly name: string;
  readonly issuer: string | null;
  /**
   * The time of the sign-in. `seenAt` is the time of the last request for a page. Both are in milliseconds since the
   * epoch.
   */
  readonly openedAt: number;
  readonly seenAt: number;
};

/** A one-time code with which an operator can sign in. */
export type ConsoleCode = { readonly kind: 'code'; readonly issuedAt: number };

/** An unfinished sign-in through an identity provider. It can be finished only once. */
export type ConsoleSignIn = {
  readonly kind: 'sign_in';
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly beganAt: number;
  /**
   * The id of the session in which the sign-in began. The sign-in will replace that session. Null if there was no
   * session.
   */
  readonly replaces: string | null;
};

export type ConsoleContent = ConsoleSession | ConsoleCode | ConsoleSignIn;

/**
 * A decrypted session, code or sign-in, with the fields that the store needs in plaintext: its id, subjects and expiry.
 */
export type OpenedConsoleSession<Content extends ConsoleContent> = Omit<StoredConsoleSession, 'sealed'> & {
  readonly content: Content;
};

export type AuthenticConsoleSessions = Omit<ConsoleSessions, 'insert' | 'get' | 'replace' | 'take'> & {
  insert(session: OpenedConsoleSession<ConsoleContent>): Promise<void>;
  /** Returns null for an unknown session, and for a session that the vault did not write. */
  get(id: string): Promise<OpenedConsoleSession<ConsoleContent> | null>;
  replace(session: OpenedConsoleSession<ConsoleSession>): Promise<boolean>;
  take(id: string): Promise<OpenedConsoleSession<ConsoleContent> | null>;
};

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts and authenticates each session with AES-256-GCM, bound to the id, subjects and expiry. This happens above
 * the port, so it covers every store. Threat: an attacker that can write the rows plants a session, turns one into an
 * operator's session, or extends one. An attacker that can read the rows learns which person uses which key.
 */
export function authenticConsoleSessions(
  store: ConsoleSessions,
  key: Uint8Array,
  { bytes }: Pick<Random, 'bytes'>,
): AuthenticConsoleSessions {
  function seal(session: OpenedConsoleSession<ConsoleContent>): StoredConsoleSession {
    const { id, subjects, expiresAt, content } = session;
    const nonce = bytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
    cipher.setAAD(placeOf(session));
    const text = Buffer.concat([cipher.update(JSON.stringify(content), 'utf8'), cipher.final()]);
    return { id, subjects, expiresAt, sealed: Buffer.concat([nonce, text, cipher.getAuthTag()]) };
  }

  function open(stored: StoredConsoleSession | null, id: string) {
    // Threat: an attacker replaces this session with another authentic session.
    if (stored === null || stored.id !== id || stored.sealed.length < nonceBytes + tagBytes) return null;
    const { sealed, ...place } = stored;
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decipher.setAAD(placeOf(place));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
    try {
      decipher.final();
    } catch {
      return null;
    }
    return { ...place, content: JSON.parse(text.toString('utf8')) as ConsoleContent };
  }

  return {
    insert: (session) => store.insert(seal(session)),
    get: async (id) => open(await store.get(id), id),
    replace: (session) => store.replace(seal(session)),
    take: async (id) => open(await store.take(id), id),
    removeOf: (subject) => store.removeOf(subject),
    forget: (expiredBefore) => store.forget(expiredBefore),
  };
}

function placeOf({ id, subjects, expiresAt }: Omit<StoredConsoleSession, 'sealed'>): Buffer {
  return Buffer.from(JSON.stringify(['strongroom.console.session.1', id, subjects, expiresAt]));
}
