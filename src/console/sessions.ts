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

/** A session ends after this long without a request. */
export const idleMs = 15 * 60_000;
/** The maximum age of a session, even if it is in use. */
export const sessionMs = 12 * 3_600_000;
/** The minimum interval between updates to a session's last request time. */
const seenEveryMs = 30_000;
const codeMs = 5 * 60_000;
/** How long a person may take to sign in at the identity provider. */
export const signInMs = 10 * 60_000;
const tokenBytes = 32;

/** Crockford's base 32, which omits letters that look like digits. 20 characters carry 100 bits. */
const codeAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeLength = 20;

/** A signed-in person, with the callers that their keys or groups currently give access to. */
export type SignedIn = {
  readonly id: string;
  readonly name: string;
  /** The identity provider that stated the name, or null if the person typed it. */
  readonly issuer: string | null;
  readonly private: Caller | null;
  readonly management: Caller | null;
  readonly isOperator: boolean;
};

/** The dependencies of sessions. `identity` is null if the settings name no identity provider. */
export type SessionDeps = Pick<Service, 'vault' | 'authenticateHash' | 'authenticateApplication'> & {
  readonly identity: Pick<IdentityProvider, 'issuer' | 'rules'> | null;
};

/** Returns the id under which a session or code is stored: the hash of its secret. */
function idOf(secret: string): string {
  return createHash('sha256').update(`strongroom.console.${secret}`).digest('hex');
}

/**
 * Stores a new session and returns its token for the browser. Each sign-in gets a new token. Threat: an attacker who
 * plants a session token in a browser would otherwise share the session of the person who signs in there.
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
 * Returns the person whose browser sent this token, or null if the session has ended. A session ends when it is idle
 * for too long, too old or closed, or when all its keys have been revoked or have expired. Authenticates each key or
 * application again, so a session never has more rights than its applications currently have.
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
  // Threat: a request that runs while the person signs out would restore the session.
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

/**
 * Returns what a person's groups give access to under the current settings. Returns nothing if the settings now name
 * another provider.
 */
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
 * Stores a new identity provider sign-in. Returns its secrets, and the token that the browser keeps until the callback.
 * `session` is the token of the session that the sign-in replaces.
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

/** Uses up a sign-in. Returns null if the token matches no sign-in, or if the sign-in is older than ten minutes. */
export async function takeSignIn({ clock, consoleSessions }: Vault, token: string): Promise<ConsoleSignIn | null> {
  const stored = await consoleSessions.take(idOf(token));
  if (stored?.content.kind !== 'sign_in') return null;
  return latestNow(clock) < stored.content.beganAt + signInMs ? stored.content : null;
}

/** Ends the session that a sign-in replaces. */
export async function closeReplaced({ consoleSessions }: Vault, { replaces }: ConsoleSignIn): Promise<void> {
  if (replaces !== null) await consoleSessions.take(replaces);
}

/** Ends one session. */
export async function closeSession({ consoleSessions }: Vault, token: string): Promise<void> {
  await consoleSessions.take(idOf(token));
}

/** Ends every session, in every browser, that was opened with one of this session's credentials. */
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

/** Uses a keyed hash. Threat: a subject may be an email address, which an attacker could find by hashing candidates. */
function personRef({ integrity }: Vault, { issuer, subject }: ConsoleMembership): string {
  return createHmac('sha256', integrity.console)
    .update(JSON.stringify(['strongroom.console.person.1', issuer, subject]))
    .digest('hex');
}

/** Returns the caller that a key belongs to, if its application has this type. */
export async function callerOfKey(
  { authenticate }: Pick<Service, 'authenticate'>,
  key: string,
  type: 'private' | 'management',
): Promise<{ readonly caller: Caller; readonly keyHash: string } | null> {
  const caller = await authenticate(key);
  return caller?.applicationType === type ? { caller, keyHash: apiKeyHash(key) } : null;
}

/** Returns a new one-time code. For five minutes, an operator can use it to sign in to any process. */
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

/** Uses up a code and returns whether it was valid. The first use invalidates the code, even if it has expired. */
export async function redeemOperatorCode({ clock, consoleSessions }: Vault, typed: string): Promise<boolean> {
  const code = typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (code.length !== codeLength) return false;
  const stored = await consoleSessions.take(idOf(code));
  return stored?.content.kind === 'code' && latestNow(clock) < stored.content.issuedAt + codeMs;
}
