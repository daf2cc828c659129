import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { ConsoleSessions, StoredConsoleSession } from '../ports/console-sessions.js';
import type { Random } from '../ports/random.js';

/** What a session of the console was opened with. A key is named by its hash, under which the directory finds it. */
export type ConsoleCredentials = {
  readonly privateKeyHash: string | null;
  readonly managementKeyHash: string | null;
  readonly isOperator: boolean;
  /** What an identity provider stated; null if the person signed in with keys or a code. */
  readonly membership: ConsoleMembership | null;
};

/** The groups of a person. Every request looks up again what the settings let them open. */
export type ConsoleMembership = {
  readonly issuer: string;
  readonly subject: string;
  /** Those of the person's groups that the settings name. */
  readonly groups: readonly string[];
};

/** What is known of a session. Every request authenticates the keys or groups again, so it holds no rights. */
export type ConsoleSession = ConsoleCredentials & {
  readonly kind: 'session';
  /** The person's name, and the identity provider that states it; null if the person typed it. */
  readonly name: string;
  readonly issuer: string | null;
  /** When the person signed in, and when they last requested a page, in milliseconds since the epoch. */
  readonly openedAt: number;
  readonly seenAt: number;
};

/** A one-time code for an operator to sign in with. */
export type ConsoleCode = { readonly kind: 'code'; readonly issuedAt: number };

/** A sign-in at an identity provider that is not finished. It can be finished once. */
export type ConsoleSignIn = {
  readonly kind: 'sign_in';
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly beganAt: number;
  /** The id of the session in which it began, which it replaces; null if there was none. */
  readonly replaces: string | null;
};

export type ConsoleContent = ConsoleSession | ConsoleCode | ConsoleSignIn;

/** A session, code or sign-in, with the text that is only for the store: the id, the subjects and the time of its end. */
export type OpenedConsoleSession<Content extends ConsoleContent> = Omit<StoredConsoleSession, 'sealed'> & {
  readonly content: Content;
};

export type AuthenticConsoleSessions = Omit<ConsoleSessions, 'insert' | 'get' | 'replace' | 'take'> & {
  insert(session: OpenedConsoleSession<ConsoleContent>): Promise<void>;
  /** Returns null also for a session that the vault did not store. */
  get(id: string): Promise<OpenedConsoleSession<ConsoleContent> | null>;
  replace(session: OpenedConsoleSession<ConsoleSession>): Promise<boolean>;
  take(id: string): Promise<OpenedConsoleSession<ConsoleContent> | null>;
};

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts and authenticates each session above the port, for every store (AES-256-GCM, bound to the id, the subjects
 * and the time of its end). Threat: an attacker that can write the rows plants a session, makes an operator of one, or
 * keeps one alive. One that can read the rows learns who works with which key.
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
    // Threat: an attacker puts another authentic session in the place of this one.
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
