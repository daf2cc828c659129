import { cookieNames, cookieOptions, laxCookieOptions } from '../cookies.js';
import type { ConsolePage, Visit } from '../page.js';
import { recordSignOut } from '../record-acts.js';
import { closeSession, closeSessionsLike } from '../sessions.js';

/** Shows what the session grants access to. Signs the person out of this browser or of all browsers. */
export const sessionPage: ConsolePage = {
  routes: [
    {
      method: 'GET',
      path: '/session',
      session: 'any',
      handle: (visit) => {
        const { session } = visit;
        const { private: ofPrivate, management, isOperator, issuer } = session;
        const model = {
          privateId: ofPrivate?.applicationId ?? null,
          managementId: management?.applicationId ?? null,
          tenantId: (ofPrivate ?? management)?.tenantId ?? null,
          isOperator,
          issuer,
        };
        return visit.page('session', model, { title: 'Your session' });
      },
    },
    {
      method: 'POST',
      path: '/sign-out',
      session: 'any',
      async handle(visit) {
        await closeSession(visit.vault, visit.request.cookies[cookieNames.session] ?? '');
        return signedOut(visit, 'You are signed out.');
      },
    },
    {
      method: 'POST',
      path: '/sign-out-everywhere',
      session: 'any',
      async handle(visit) {
        await closeSessionsLike(visit.vault, visit.session);
        return signedOut(
          visit,
          visit.session.issuer === null ? 'All sessions with your keys are closed.' : 'All your sessions are closed.',
        );
      },
    },
  ],
};

async function signedOut(visit: Visit, text: string) {
  await recordSignOut(visit);
  visit.reply.clearCookie(cookieNames.session, cookieOptions);
  visit.reply.clearCookie(cookieNames.return, laxCookieOptions);
  return visit.redirect('/sign-in', { tone: 'good', text });
}
