import { createHash, createHmac } from 'node:crypto';
import type { ApplicationType } from '../domain/access/application-type.js';
import type { Caller } from '../domain/access/caller.js';
import { apiKeyHash } from '../domain/tenancy/api-key.js';
import type { Service } from '../http/service.js';
import { latestNow } from '../ports/clock.js';
import type {
  ConsoleContent,
  ConsoleCredentials,
  ConsoleMembership,
  ConsoleSession,
  ConsoleSignIn,
  OpenedConsoleSession,
} from '../vault/authentic-console-sessions.js';
import type { Vault } from '../vault/vault.js';
import { openedBy } from './groups.js';
import type { IdentityProvider, SignInSecrets } from './identity-provider.js';

/** A session ends after this time without a request. */
export const idleMs = 15 * 60_000;
/** A session ends after this time, however busy it is. */
export const sessionMs = 12 * 3_600_000;
/** The time of the last request is stored at most this often. */
const seenEveryMs = 30_000;
const codeMs = 5 * 60_000;
/** How long a person may take at the identity provider. */
export const signInMs = 10 * 60_000;
const tokenBytes = 32;

/** Crockford's base 32: no letter that can be read as a digit. 20 characters carry 100 bits. */
const codeAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeLength = 20;

/** A person who is signed in, with the callers that their keys or groups open at this moment. */
export type SignedIn = {
  readonly id: string;
  readonly name: string;
  /** The identity provider that states the name; null if the person typed it. */
  readonly issuer: string | null;
  readonly private: Caller | null;
  readonly management: Caller | null;
  readonly isOperator: boolean;
};

/** The deps of sessions. `identity` is null if the settings name no identity provider. */
export type SessionDeps = Pick<Service, 'vault' | 'authenticateHash' | 'authenticateApplication'> & {
  readonly identity: Pick<IdentityProvider, 'issuer' | 'rules'> | null;
};

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
    subjects: subjectsOf(vault, credentials),
    expiresAt: now + idleMs,
    content,
  });
  return token;
}

/**
 * Returns the person whose browser sent this token, or null if the session has ended: it was idle, is too old, was
 * closed, or all of its keys have been revoked or have expired. Authenticates each key or application again, so a
 * session never has more rights than its applications have now.
 */
export async function findSession(deps: SessionDeps, token: string): Promise<SignedIn | null> {
  const { clock, consoleSessions } = deps.vault;
  const stored = await consoleSessions.get(idOf(token));
  if (stored === null || !isSession(stored)) return null;
  const { id, content } = stored;
  const now = latestNow(clock);
  const hasEnded = now >= content.seenAt + idleMs || now >= content.openedAt + sessionMs;
  const session = hasEnded ? null : await signedIn(deps, id, content);
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

function isSession(stored: OpenedConsoleSession<ConsoleContent>): stored is OpenedConsoleSession<ConsoleSession> {
  return stored.content.kind === 'session';
}

async function signedIn(deps: SessionDeps, id: string, session: ConsoleSession): Promise<SignedIn | null> {
  const { name, issuer, membership } = session;
  const opened = membership === null ? await openedByKeys(deps, session) : await openedByMembership(deps, membership);
  const { private: ofPrivate, management, isOperator } = opened;
  return ofPrivate === null && management === null && !isOperator ? null : { id, name, issuer, ...opened };
}

type Opened = Pick<SignedIn, 'private' | 'management' | 'isOperator'>;

async function openedByKeys({ authenticateHash }: SessionDeps, credentials: ConsoleCredentials): Promise<Opened> {
  const { privateKeyHash, managementKeyHash, isOperator } = credentials;
  return {
    private: privateKeyHash === null ? null : ofType(await authenticateHash(privateKeyHash), 'private'),
    management: managementKeyHash === null ? null : ofType(await authenticateHash(managementKeyHash), 'management'),
    isOperator,
  };
}

/** Returns what the groups of a person open with the present settings; nothing if those name another provider. */
export async function openedByMembership(
  { authenticateApplication, identity }: SessionDeps,
  { issuer, groups }: ConsoleMembership,
): Promise<Opened> {
  const rules = identity?.issuer === issuer ? identity.rules : [];
  const { tenantId, private: privateId, management: managementId, isOperator } = openedBy(rules, groups);
  const callerOf = async (applicationId: string | null, type: 'private' | 'management') =>
    tenantId === null || applicationId === null
      ? null
      : ofType(await authenticateApplication(tenantId, applicationId), type);
  return {
    private: await callerOf(privateId, 'private'),
    management: await callerOf(managementId, 'management'),
    isOperator,
  };
}

function ofType(caller: Caller | null, type: ApplicationType): Caller | null {
  return caller?.applicationType === type ? caller : null;
}

/**
 * Stores a new sign-in at the identity provider. Returns its secrets, and the token that the browser keeps until it
 * returns. `session` is the token of the session that the sign-in replaces.
 */
export async function beginSignIn(
  { clock, random, consoleSessions }: Vault,
  session: string | null,
): Promise<{ readonly token: string; readonly secrets: SignInSecrets }> {
  const secret = () => random.bytes(tokenBytes).toString('base64url');
  const beganAt = clock.now();
  const token = secret();
  const secrets = { state: secret(), nonce: secret(), codeVerifier: secret() };
  const replaces = session === null ? null : idOf(session);
  await consoleSessions.forget(beganAt);
  await consoleSessions.insert({
    ...{ id: idOf(token), subjects: [], expiresAt: beganAt + signInMs },
    content: { kind: 'sign_in', ...secrets, beganAt, replaces },
  });
  return { token, secrets };
}

/** Uses up a sign-in. Returns null if the token names none, or if it is older than ten minutes. */
export async function takeSignIn({ clock, consoleSessions }: Vault, token: string): Promise<ConsoleSignIn | null> {
  const stored = await consoleSessions.take(idOf(token));
  if (stored?.content.kind !== 'sign_in') return null;
  return latestNow(clock) < stored.content.beganAt + signInMs ? stored.content : null;
}

/** Ends the session in which a sign-in began. */
export async function closeReplaced({ consoleSessions }: Vault, { replaces }: ConsoleSignIn): Promise<void> {
  if (replaces !== null) await consoleSessions.take(replaces);
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

function subjectsOf(vault: Vault, credentials: ConsoleCredentials): readonly string[] {
  const { privateKeyHash, managementKeyHash, isOperator, membership } = credentials;
  return [
    ...(privateKeyHash === null ? [] : [`key:${privateKeyHash}`]),
    ...(managementKeyHash === null ? [] : [`key:${managementKeyHash}`]),
    ...(isOperator ? ['operator'] : []),
    ...(membership === null ? [] : [`person:${personRef(vault, membership)}`]),
  ];
}

/** Threat: a subject may be an address, which a reader of the store would find by hashing candidates without a key. */
function personRef({ integrity }: Vault, { issuer, subject }: ConsoleMembership): string {
  return createHmac('sha256', integrity.console)
    .update(JSON.stringify(['strongroom.console.person.1', issuer, subject]))
    .digest('hex');
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
