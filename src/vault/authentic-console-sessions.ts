import { openText, sealText } from '../events/sealing/sealed-text.js';
import type { ConsoleSessions, StoredConsoleSession } from '../ports/console-sessions.js';
import type { Random } from '../ports/random.js';

/**
 * The credentials that were used to open a console session. Only the hashes of keys are stored, because a hash is
 * sufficient to find its key in the directory.
 */
export type ConsoleCredentials = {
  readonly privateKeyHash: string | null;
  readonly managementKeyHash: string | null;
  readonly isOperator: boolean;
  /**
   * The person and the person's groups, as an identity provider stated them. Null if the person signed in with keys or
   * a code.
   */
  readonly membership: ConsoleMembership | null;
};

/**
 * A person and the person's groups. On every request, the vault looks up the access of these groups in the settings.
 */
export type ConsoleMembership = {
  readonly issuer: string;
  readonly subject: string;
  /** The person's groups. Only groups that are named in the settings are included. */
  readonly groups: readonly string[];
};

/**
 * The content of a session. A session grants no rights by itself, because the keys or groups are authenticated again
 * for every request.
 */
export type ConsoleSession = ConsoleCredentials & {
  readonly kind: 'session';
  /**
   * The person's name. `issuer` is the identity provider that stated this name, or null if the person entered the name.
   */
  readonly name: string;
  readonly issuer: string | null;
  /**
   * `openedAt` is the time of the sign-in, and `seenAt` is the time of the last request for a page. Both are in
   * milliseconds since the epoch.
   */
  readonly openedAt: number;
  readonly seenAt: number;
};

/** A one-time code that an operator can use to sign in. */
export type ConsoleCode = { readonly kind: 'code'; readonly issuedAt: number };

/** An unfinished sign-in through an identity provider. It can be finished only once. */
export type ConsoleSignIn = {
  readonly kind: 'sign_in';
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly beganAt: number;
  /**
   * The id of the session in which the sign-in began. The sign-in will replace this session. Null if there was no
   * session.
   */
  readonly replaces: string | null;
};

export type ConsoleContent = ConsoleSession | ConsoleCode | ConsoleSignIn;

/**
 * A session, code or sign-in with its decrypted `content`. The store needs the other fields (the id, the subjects and
 * the expiry) in plaintext.
 */
export type OpenedConsoleSession<Content extends ConsoleContent> = Omit<StoredConsoleSession, 'sealed'> & {
  readonly content: Content;
};

export type AuthenticConsoleSessions = Omit<ConsoleSessions, 'insert' | 'get' | 'replace' | 'take'> & {
  insert(session: OpenedConsoleSession<ConsoleContent>): Promise<void>;
  /** Returns null if the session is unknown, or if the vault did not write it. */
  get(id: string): Promise<OpenedConsoleSession<ConsoleContent> | null>;
  replace(session: OpenedConsoleSession<ConsoleSession>): Promise<boolean>;
  take(id: string): Promise<OpenedConsoleSession<ConsoleContent> | null>;
};

/**
 * Encrypts and authenticates each session with AES-256-GCM. The ciphertext is bound to the session's id, subjects and
 * expiry. The encryption does not depend on the store, so it protects the sessions in every store. Threat: an attacker
 * who can write the rows adds a session, turns a session into an operator's session, or extends a session. Threat: an
 * attacker who can read the rows learns which person uses which key.
 */
export function authenticConsoleSessions(
  store: ConsoleSessions,
  key: Uint8Array,
  random: Pick<Random, 'bytes'>,
): AuthenticConsoleSessions {
  function seal(session: OpenedConsoleSession<ConsoleContent>): StoredConsoleSession {
    const { id, subjects, expiresAt, content } = session;
    return { id, subjects, expiresAt, sealed: sealText(key, random, JSON.stringify(content), placeOf(session)) };
  }

  function open(stored: StoredConsoleSession | null, id: string) {
    // Threat: an attacker replaces this session with a different session that is authentic.
    if (stored === null || stored.id !== id) return null;
    const { sealed, ...place } = stored;
    const text = openText(key, sealed, placeOf(place));
    return text === null ? null : { ...place, content: JSON.parse(text) as ConsoleContent };
  }

  return {
    insert: (session) => store.insert(seal(session)),
    get: async (id) => open(await store.get(id), id),
    replace: (session) => store.replace(seal(session)),
    take: async (id) => open(await store.take(id), id),
    removeOf: (subjects) => store.removeOf(subjects),
    keepLatestOf: (subject, kept) => store.keepLatestOf(subject, kept),
    count: () => store.count(),
    forget: (expiredBefore) => store.forget(expiredBefore),
  };
}

function placeOf({ id, subjects, expiresAt }: Omit<StoredConsoleSession, 'sealed'>): readonly unknown[] {
  return ['strongroom.console.session.1', id, subjects, expiresAt];
}
