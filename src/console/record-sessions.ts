import { recordConsoleSession, recordOperatorSession } from '../audit/access-log/record-console-session.js';
import type { Caller } from '../domain/access/caller.js';
import type { Visitor } from '../domain/access/visitor.js';
import type { Vault } from '../vault/vault.js';
import type { Visit } from './page.js';

/** Records in the access log that a person signed in with these applications, as an operator, or both. */
export async function recordSignIn(
  { vault, request }: Pick<Visit, 'vault' | 'request'>,
  callers: readonly Caller[],
  isOperator: boolean,
  { name, issuer }: Pick<Visitor, 'name' | 'issuer'>,
): Promise<void> {
  await recordAll(vault, request.traceId, 'sign_in', callers, isOperator, { name, issuer, reason: null }, request.ip);
}

/** Records that a person signed out. */
export async function recordSignOut({ vault, request, session }: Visit): Promise<void> {
  const { name, issuer, isOperator } = session;
  const callers = [session.private, session.management].filter((caller) => caller !== null);
  await recordAll(vault, request.traceId, 'sign_out', callers, isOperator, { name, issuer, reason: null }, request.ip);
}

async function recordAll(
  vault: Vault,
  traceId: string,
  operation: 'sign_in' | 'sign_out',
  callers: readonly Caller[],
  isOperator: boolean,
  visitor: Visitor,
  sourceAddress: string,
): Promise<void> {
  for (const caller of callers) {
    await recordConsoleSession(vault, { caller: { ...caller, visitor, sourceAddress }, traceId }, operation);
  }
  if (isOperator) await recordOperatorSession(vault, { traceId, visitor, sourceAddress }, operation);
}
