import { type ConsoleAct, recordConsoleAct } from '../audit/access-log/record-console-act.js';
import { recordOperatorAct } from '../audit/access-log/record-for-all-tenants.js';
import type { Visit } from './page.js';
import { callerOfPerson, type SignedIn } from './sessions.js';

/** A person, and what the person's keys or groups grant. */
type Session = Omit<SignedIn, 'id'>;

/** Records a sign-in in the access log. */
export function recordSignIn(visit: Visit, session: Session): Promise<void> {
  return recordSession(visit, session, { operation: 'sign_in', message: 'signed in at the console' });
}

/** Records in the access log that a person signed out. */
export function recordSignOut(visit: Visit): Promise<void> {
  return recordSession(visit, visit.session, { operation: 'sign_out', message: 'signed out of the console' });
}

async function recordSession(visit: Visit, session: Session, act: ConsoleAct): Promise<void> {
  const { vault, request } = visit;
  for (const caller of [session.private, session.management]) {
    if (caller === null) continue;
    const context = { caller: callerOfPerson(request, caller, session), traceId: request.traceId };
    await recordConsoleAct(vault, context, 'application', caller.applicationId, act);
  }
  if (session.isOperator) await recordByOperator(visit, session, act);
}

/** Records an action of this session's operator in the access log of every tenant. */
export function recordOperation(visit: Visit, act: ConsoleAct): Promise<void> {
  return recordByOperator(visit, visit.session, act);
}

async function recordByOperator({ vault, request }: Visit, { name, issuer }: Session, act: ConsoleAct) {
  const visitor = { name, issuer, reason: null };
  await recordOperatorAct(vault, { traceId: request.traceId, visitor, sourceAddress: request.ip }, act);
}
