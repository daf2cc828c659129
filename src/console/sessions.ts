import { createHash } from 'node:crypto';
import type { ApplicationType } from '../domain/access/application-type.js';
import type { Caller } from '../domain/access/caller.js';
import { apiKeyHash } from '../domain/tenancy/api-key.js';
import type { Service } from '../http/service.js';
import { latestNow } from '../ports/clock.js';
import type {
  ConsoleCode,
  ConsoleCredentials,
  ConsoleSession,
  OpenedConsoleSession,
} from '../vault/authentic-console-sessions.js';
import type { Vault } from '../vault/vault.js';

/** A session ends after this time without a request. */
export const idleMs = 15 * 60_000;
/** A session ends after this time, however busy it is. */
export const sessionMs = 12 * 3_600_000;
/** The time of the last request is stored at most this often. */
const seenEveryMs = 30_000;
const codeMs = 5 * 60_000;
const tokenBytes = 32;

/** Crockford's base 32: no letter that can be read as a digit. 20 characters carry 100 bits. */
const codeAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeLength = 20;

/** A person who is signed in, with the callers that their keys belong to at this moment. */
export type SignedIn = {
  readonly id: string;
  readonly name: string;
  /** The identity provider that states the name; null if the person typed it. */
  readonly issuer: string | null;
  readonly private: Caller | null;
  readonly management: Caller | null;
  readonly isOperator: boolean;
};

/** The deps of sessions. */
type Deps = Pick<Service, 'vault' | 'authenticateHash'>;

/** Returns the id under which a session or code is stored: the hash of the secret that names it. */
function idOf(secret: string): string {
  return createHash('sha256').update(`strongroom.console.${secret}`).digest('hex');
}

/**
 * Stores a new session and returns the token that the browser keeps. Threat: an attacker who has planted a session's
 * token in a browser would share the session of the person who signs in there. So each sign-in gets a new token.
 */
export async function openSession(
  vault: Vault,
  credentials: ConsoleCredentials,
  person: Pick<ConsoleSession, 'name' | 'issuer'>,
): Promise<string> {
  const { clock, random, consoleSessions } = vault;
  const now = clock.now();
  const token = random.bytes(tokenBytes).toString('base64url');
  const content = { kind: 'session', ...credentials, ...person, openedAt: now, seenAt: now } as const;
  await consoleSessions.forget(now);
  await consoleSessions.insert({
    id: idOf(token),
    subjects: subjectsOf(credentials),
    expiresAt: now + idleMs,
    content,
  });
  return token;
}

/**
 * Returns the person whose browser sent this token, or null if the session has ended: it was idle, is too old, was
 * closed, or all of its keys have been revoked or have expired. Authenticates each key again, so a session never has
 * more rights than its applications have now.
 */
export async function findSession({ vault, authenticateHash }: Deps, token: string): Promise<SignedIn | null> {
  const { clock, consoleSessions } = vault;
  const stored = await consoleSessions.get(idOf(token));
  if (stored === null || !isSession(stored)) return null;
  const { id, content } = stored;
  const now = latestNow(clock);
  const hasEnded = now >= content.seenAt + idleMs || now >= content.openedAt + sessionMs;
  const session = hasEnded ? null : await signedIn(authenticateHash, id, content);
  if (session === null) {
    await consoleSessions.take(id);
    return null;
  }
  if (clock.now() - content.seenAt < seenEveryMs) return session;
  const seenAt = clock.now();
  const seen = { ...stored, expiresAt: seenAt + idleMs, content: { ...content, seenAt } };
  // Threat: a request that runs while the person signs out would bring the session back.
  return (await consoleSessions.replace(seen)) ? session : null;
}

function isSession(
  stored: OpenedConsoleSession<ConsoleSession | ConsoleCode>,
): stored is OpenedConsoleSession<ConsoleSession> {
  return stored.content.kind === 'session';
}

async function signedIn(
  authenticateHash: Deps['authenticateHash'],
  id: string,
  { privateKeyHash, managementKeyHash, isOperator, name, issuer }: ConsoleSession,
): Promise<SignedIn | null> {
  const callerOf = async (hash: string | null, type: ApplicationType): Promise<Caller | null> => {
    const caller = hash === null ? null : await authenticateHash(hash);
    return caller?.applicationType === type ? caller : null;
  };
  const session = {
    ...{ id, name, issuer, isOperator },
    private: await callerOf(privateKeyHash, 'private'),
    management: await callerOf(managementKeyHash, 'management'),
  };
  return session.private === null && session.management === null && !isOperator ? null : session;
}

/** Ends one session. */
export async function closeSession({ consoleSessions }: Vault, token: string): Promise<void> {
  await consoleSessions.take(idOf(token));
}

/** Ends every session, in every browser, that was opened with a credential of this one. */
export async function closeSessionsLike({ consoleSessions }: Vault, { id }: SignedIn): Promise<void> {
  const stored = await consoleSessions.take(id);
  for (const subject of stored?.subjects ?? []) await consoleSessions.removeOf(subject);
}

function subjectsOf({ privateKeyHash, managementKeyHash, isOperator }: ConsoleCredentials): readonly string[] {
  return [
    ...(privateKeyHash === null ? [] : [`key:${privateKeyHash}`]),
    ...(managementKeyHash === null ? [] : [`key:${managementKeyHash}`]),
    ...(isOperator ? ['operator'] : []),
  ];
}

/** Returns the caller of a key if its application has this type. */
export async function callerOfKey(
  { authenticate }: Pick<Service, 'authenticate'>,
  key: string,
  type: 'private' | 'management',
): Promise<{ readonly caller: Caller; readonly keyHash: string } | null> {
  const caller = await authenticate(key);
  return caller?.applicationType === type ? { caller, keyHash: apiKeyHash(key) } : null;
}

/** Returns a new one-time code with which an operator can sign in for five minutes, in every process. */
export async function issueOperatorCode({ clock, random, consoleSessions }: Vault): Promise<string> {
  const issuedAt = clock.now();
  const characters = Array.from({ length: codeLength }, () => codeAlphabet.charAt(random.integer(codeAlphabet.length)));
  const code = characters.join('');
  await consoleSessions.insert({
    ...{ id: idOf(code), subjects: [], expiresAt: issuedAt + codeMs },
    content: { kind: 'code', issuedAt },
  });
  return code.replaceAll(/(.{4})(?=.)/g, '$1-');
}

/** Uses up a code. Returns whether it was valid. The first use ends it, also one that comes too late. */
export async function redeemOperatorCode({ clock, consoleSessions }: Vault, typed: string): Promise<boolean> {
  const code = typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (code.length !== codeLength) return false;
  const stored = await consoleSessions.take(idOf(code));
  return stored?.content.kind === 'code' && latestNow(clock) < stored.content.issuedAt + codeMs;
}
