import { type ConsoleAct, recordConsoleAct } from '../audit/access-log/record-console-act.js';
import { recordOperatorAct } from '../audit/access-log/record-for-all-tenants.js';
import type { Caller } from '../domain/access/caller.js';
import type { Visitor } from '../domain/access/visitor.js';
import type { Visit } from './page.js';

const signIn: ConsoleAct = { operation: 'sign_in', message: 'signed in at the console' };
const signOut: ConsoleAct = { operation: 'sign_out', message: 'signed out of the console' };

/**
 * Records a sign-in in the access log. The sign-in gave the person the access of `callers`, operator rights, or both.
 */
export async function recordSignIn(
  visit: Pick<Visit, 'vault' | 'request'>,
  callers: readonly Caller[],
  isOperator: boolean,
  { name, issuer }: Pick<Visitor, 'name' | 'issuer'>,
): Promise<void> {
  await recordSession(visit, signIn, callers, isOperator, { name, issuer, reason: null });
}

/** Records in the access log that a person signed out. */
export async function recordSignOut(visit: Visit): Promise<void> {
  const { name, issuer, isOperator } = visit.session;
  const callers = [visit.session.private, visit.session.management].filter((caller) => caller !== null);
  await recordSession(visit, signOut, callers, isOperator, { name, issuer, reason: null });
}

/** Records an action of this session's operator in the access log of every tenant. */
export async function recordOperation({ vault, request, session }: Visit, act: ConsoleAct): Promise<void> {
  const { name, issuer } = session;
  const visitor = { name, issuer, reason: null };
  await recordOperatorAct(vault, { traceId: request.traceId, visitor, sourceAddress: request.ip }, act);
}

async function recordSession(
  { vault, request }: Pick<Visit, 'vault' | 'request'>,
  act: ConsoleAct,
  callers: readonly Caller[],
  isOperator: boolean,
  visitor: Visitor,
): Promise<void> {
  const { traceId, ip: sourceAddress } = request;
  for (const caller of callers) {
    const context = { caller: { ...caller, visitor, sourceAddress }, traceId };
    await recordConsoleAct(vault, context, 'application', caller.applicationId, act);
  }
  if (isOperator) await recordOperatorAct(vault, { traceId, visitor, sourceAddress }, act);
}
