import { createHash, createHmac } from 'node:crypto';
import type { ApplicationType } from '../domain/access/application-type.js';
import type { Caller } from '../domain/access/caller.js';
import type { Service } from '../http/service.js';
import { latestNow } from '../ports/clock.js';
import type { Maybe } from '../ports/maybe.js';
import type {
  ConsoleContent,
  ConsoleCredentials,
  ConsoleMembership,
  ConsoleSession,
  ConsoleSignIn,
  OpenedConsoleSession,
} from '../vault/authentic-console-sessions.js';
import { orNull } from '../vault/for-tenants.js';
import type { Vault } from '../vault/vault.js';
import { type OpenedByGroups, openedBy } from './groups.js';
import type { IdentityProvider, SignInSecrets } from './identity-provider.js';

/** How long a session without requests stays valid, in ms. */
export const idleMs = 15 * 60_000;
/** The maximum age of a session in ms, even if the session is in use. */
export const sessionMs = 12 * 3_600_000;
/** The time of a session's last request is updated at most once in this many ms. */
const seenEveryMs = 30_000;
/** If the clock is set back by at most this many ms, people stay signed in. */
const correctedMs = 60_000;
const codeMs = 5 * 60_000;
/** How long a person may take to sign in at the identity provider, in ms. */
export const signInMs = 10 * 60_000;
/** If this many sessions and sign-ins are stored, no new sign-in with the identity provider can begin. */
const storedMax = 10_000;
/**
 * The maximum number of open sessions for each key, for each person, and for all operators who signed in with a code.
 */
export const sessionsMax = 100;
const tokenBytes = 32;

/**
 * The alphabet of Crockford's base 32, which omits letters that look like digits. A code of 20 characters has 100 bits.
 */
const codeAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeLength = 20;

/** A signed-in person with the person's current callers. The callers come from the person's API keys or groups. */
export type SignedIn = {
  readonly id: string;
  readonly name: string;
  /** The issuer URL of the identity provider that supplied the name, or null if the person typed the name. */
  readonly issuer: string | null;
  readonly private: Caller | null;
  readonly management: Caller | null;
  readonly isOperator: boolean;
};

type SessionDeps = Pick<Service, 'vault' | 'authenticateHash' | 'authenticateApplication'>;

/** The identity provider in the settings, or null if none is configured. */
type Provider = Pick<IdentityProvider, 'issuer' | 'rules'> | null;

/**
 * Returns true if a period of `ms` that began at `since` has ended. Every time here is from `latestNow`, so that people
 * can still sign in while the vault knows that its clock is behind. A period that begins in the future has ended, too:
 * it began while the clock was ahead, and would otherwise not end for as long as the clock was ahead.
 */
function hasEnded(since: number, ms: number, now: number): boolean {
  return now >= since + ms || since > now + correctedMs;
}

/** Returns the id of a stored session, sign-in or code. The id is a hash of the secret. */
function idOf(secret: string): string {
  return createHash('sha256').update(`strongroom.console.${secret}`).digest('hex');
}

/**
 * Stores a new session and returns the session's token for the browser. Each sign-in gets a new token. Threat: an
 * attacker plants a session token in a browser. If the sign-in kept that token, the attacker would share the session of
 * the person who signs in there.
 *
 * If a credential has more than 100 sessions, closes those that have been idle the longest. Threat: a person with one
 * key signs in again and again, to fill the memory or the store, or to block sign-ins with the identity provider.
 */
export async function openSession(
  vault: Pick<Vault, 'clock' | 'consoleSessions' | 'integrity' | 'random'>,
  credentials: ConsoleCredentials,
  person: Pick<ConsoleSession, 'name' | 'issuer'>,
): Promise<string> {
  const { clock, random, consoleSessions } = vault;
  const now = latestNow(clock);
  const token = random.bytes(tokenBytes).toString('base64url');
  const content = { kind: 'session', ...credentials, ...person, openedAt: now, seenAt: now } as const;
  await consoleSessions.forget(now);
  const subjects = subjectsOf(vault, credentials);
  await consoleSessions.insert({ id: idOf(token), subjects, expiresAt: now + idleMs, content });
  for (const subject of subjects) await consoleSessions.keepLatestOf(subject, sessionsMax);
  return token;
}

/**
 * Returns the person whose browser sent this token. Authenticates each key or application again, so a session never has
 * more rights than its applications currently have.
 *
 * Returns null if there is no token, or if the session is closed, too old, or idle for too long. Also returns null, and
 * closes the session, if its API keys have been revoked or its applications deleted. Returns `no_access` if the settings
 * of this process give the person's groups no access.
 */
export async function findSession(
  deps: SessionDeps,
  provider: Provider,
  token: string | undefined,
): Promise<SignedIn | 'no_access' | null> {
  if (token === undefined) return null;
  const { clock, consoleSessions } = deps.vault;
  const stored = await consoleSessions.get(idOf(token));
  if (stored === null || !isSession(stored)) return null;
  const { id, content } = stored;
  const now = latestNow(clock);
  const isOver = hasEnded(content.seenAt, idleMs, now) || hasEnded(content.openedAt, sessionMs, now);
  // During a rolling change of `console.oidc`, the groups may give access under the settings of another process.
  if (!isOver && content.membership !== null && opensNothing(grantedTo(provider, content.membership)))
    return 'no_access';
  const session = isOver ? null : await signedIn(deps, provider, id, content);
  if (session === null) {
    await consoleSessions.take(id);
    return null;
  }
  if (now - content.seenAt < seenEveryMs) return session;
  const seenAt = latestNow(clock);
  const seen = { ...stored, expiresAt: seenAt + idleMs, content: { ...content, seenAt } };
  // `replace` does not store a session that has been removed. Threat: an attacker sends a request just as the person
  // signs out, and the request restores the session.
  return (await consoleSessions.replace(seen)) ? session : null;
}

function isSession(stored: OpenedConsoleSession<ConsoleContent>): stored is OpenedConsoleSession<ConsoleSession> {
  return stored.content.kind === 'session';
}

async function signedIn(
  deps: SessionDeps,
  provider: Provider,
  id: string,
  session: ConsoleSession,
): Promise<SignedIn | null> {
  const { name, issuer, membership } = session;
  const opened =
    membership === null ? await openedByKeys(deps, session) : await openedByMembership(deps, provider, membership);
  return opensNothing(opened) ? null : { id, name, issuer, ...opened };
}

type Opened = Pick<SignedIn, 'private' | 'management' | 'isOperator'>;

/** Returns true if keys or groups grant neither an application nor operator rights. */
export function opensNothing({ private: ofPrivate, management, isOperator }: Opened | OpenedByGroups): boolean {
  return ofPrivate === null && management === null && !isOperator;
}

/** Returns the caller with the person and the address of the request, for the access log. */
export function callerOfPerson(
  { ip: sourceAddress }: { readonly ip: string },
  caller: Caller,
  { name, issuer }: Pick<SignedIn, 'name' | 'issuer'>,
): Caller {
  return { ...caller, sourceAddress, visitor: { name, issuer, reason: null } };
}

async function openedByKeys(
  { vault, authenticateHash }: SessionDeps,
  credentials: ConsoleCredentials,
): Promise<Opened> {
  const { privateKeyHash, managementKeyHash, isOperator } = credentials;
  const callerOf = async (hash: string | null, type: 'private' | 'management') =>
    hash === null ? null : openedCaller(vault, isOperator, type, () => authenticateHash(hash));
  return {
    private: await callerOf(privateKeyHash, 'private'),
    management: await callerOf(managementKeyHash, 'management'),
    isOperator,
  };
}

/**
 * Returns what the settings grant to a person's groups. If the settings now contain a different provider, they grant
 * nothing.
 */
function grantedTo(provider: Provider, { issuer, groups }: ConsoleMembership): OpenedByGroups {
  return openedBy(provider?.issuer === issuer ? provider.rules : [], groups);
}

/** Returns the access granted by a person's groups under the current settings. */
export async function openedByMembership(
  { vault, authenticateApplication }: SessionDeps,
  provider: Provider,
  membership: ConsoleMembership,
): Promise<Opened> {
  const { tenantId, private: privateId, management: managementId, isOperator } = grantedTo(provider, membership);
  const callerOf = async (applicationId: string | null, type: 'private' | 'management') =>
    tenantId === null || applicationId === null
      ? null
      : openedCaller(vault, isOperator, type, () => authenticateApplication(tenantId, applicationId));
  return {
    private: await callerOf(privateId, 'private'),
    management: await callerOf(managementId, 'management'),
    isOperator,
  };
}

/**
 * Returns the caller that `authenticate` finds. Returns null if there is none, or if its application has another type.
 * If its tenant's keys are damaged, an operator gets null too, and the damage is reported. Threat: an attacker damages
 * the keys of one tenant to keep operators from the console.
 */
async function openedCaller(
  vault: Pick<Vault, 'reportDamage'>,
  isOperator: boolean,
  type: ApplicationType,
  authenticate: () => Maybe<Caller | null>,
): Promise<Caller | null> {
  const caller = isOperator ? await orNull(vault, authenticate) : await authenticate();
  return caller?.applicationType === type ? caller : null;
}

/**
 * Stores a new sign-in with the identity provider. Returns the secrets of the sign-in, and the token that the browser
 * stores until the callback. `session` is the token of the session replaced by the sign-in, or null if it replaces
 * none. Returns null if too many sessions and sign-ins are stored. Threat: an attacker with many addresses begins
 * sign-ins until the memory or the store is full.
 */
export async function beginSignIn(
  { clock, random, consoleSessions }: Pick<Vault, 'clock' | 'consoleSessions' | 'random'>,
  session: string | null,
): Promise<{ readonly token: string; readonly secrets: SignInSecrets } | null> {
  const secret = () => random.bytes(tokenBytes).toString('base64url');
  const beganAt = latestNow(clock);
  const token = secret();
  const secrets = { state: secret(), nonce: secret(), codeVerifier: secret() };
  const replaces = session === null ? null : idOf(session);
  await consoleSessions.forget(beganAt);
  if ((await consoleSessions.count()) >= storedMax) return null;
  await consoleSessions.insert({
    id: idOf(token),
    subjects: [],
    expiresAt: beganAt + signInMs,
    content: { kind: 'sign_in', ...secrets, beganAt, replaces },
  });
  return { token, secrets };
}

/**
 * Removes a sign-in from the store and returns it. Returns null if no sign-in has this token, or if the sign-in began
 * more than ten minutes ago.
 */
export async function takeSignIn(
  { clock, consoleSessions }: Pick<Vault, 'clock' | 'consoleSessions'>,
  token: string,
): Promise<ConsoleSignIn | null> {
  const stored = await consoleSessions.take(idOf(token));
  if (stored?.content.kind !== 'sign_in') return null;
  return hasEnded(stored.content.beganAt, signInMs, latestNow(clock)) ? null : stored.content;
}

/** Closes the old session when a new sign-in replaces it. */
export async function closeReplaced(
  { consoleSessions }: Pick<Vault, 'consoleSessions'>,
  { replaces }: ConsoleSignIn,
): Promise<void> {
  if (replaces !== null) await consoleSessions.take(replaces);
}

/** Closes one session. */
export async function closeSession({ consoleSessions }: Pick<Vault, 'consoleSessions'>, token: string): Promise<void> {
  await consoleSessions.take(idOf(token));
}

/** Closes, in all browsers, every session that was opened with any of this session's credentials. */
export async function closeSessionsLike(
  { consoleSessions }: Pick<Vault, 'consoleSessions'>,
  { id }: SignedIn,
): Promise<void> {
  const stored = await consoleSessions.get(id);
  if (stored !== null) await consoleSessions.removeOf(stored.subjects);
}

function subjectsOf(vault: Pick<Vault, 'integrity'>, credentials: ConsoleCredentials): readonly string[] {
  const { privateKeyHash, managementKeyHash, isOperator, membership } = credentials;
  return [
    ...(privateKeyHash === null ? [] : [`key:${privateKeyHash}`]),
    ...(managementKeyHash === null ? [] : [`key:${managementKeyHash}`]),
    ...(isOperator ? ['operator'] : []),
    ...(membership === null ? [] : [`person:${personRef(vault, membership)}`]),
  ];
}

/**
 * Returns a keyed hash that identifies a person. A subject may be an email address, so a plain hash could be reversed
 * by hashing candidates. Threat: an attacker who can read the hash finds out who the person is.
 */
function personRef({ integrity }: Pick<Vault, 'integrity'>, { issuer, subject }: ConsoleMembership): string {
  return createHmac('sha256', integrity.console)
    .update(JSON.stringify(['strongroom.console.person.1', issuer, subject]))
    .digest('hex');
}

/** Returns a new one-time code. An operator can use it within five minutes to sign in to the console of any process. */
export async function issueOperatorCode({
  clock,
  random,
  consoleSessions,
}: Pick<Vault, 'clock' | 'consoleSessions' | 'random'>): Promise<string> {
  const issuedAt = latestNow(clock);
  const characters = Array.from({ length: codeLength }, () => codeAlphabet.charAt(random.integer(codeAlphabet.length)));
  const code = characters.join('');
  await consoleSessions.insert({
    id: idOf(code),
    subjects: [],
    expiresAt: issuedAt + codeMs,
    content: { kind: 'code', issuedAt },
  });
  return code.replaceAll(/(.{4})(?=.)/g, '$1-');
}

/**
 * Redeems a code. Returns true if the code was valid. The code is removed, even if it had expired, so it cannot be used
 * again.
 */
export async function redeemOperatorCode(
  { clock, consoleSessions }: Pick<Vault, 'clock' | 'consoleSessions'>,
  typed: string,
): Promise<boolean> {
  const code = typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (code.length !== codeLength) return false;
  const stored = await consoleSessions.take(idOf(code));
  return stored?.content.kind === 'code' && !hasEnded(stored.content.issuedAt, codeMs, latestNow(clock));
}
