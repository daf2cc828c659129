import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieNames, cookieOptions } from './cookies.js';
import type { Layout } from './layout.js';
import type { ShownProblem } from './problem.js';
import { isCrossSite, leaveReturn, pageAddress } from './return-address.js';
import { leaveFlash, sendHtml } from './visit.js';

/** The problems after which a person opens the form again. */
const rejectedForms: ReadonlySet<string> = new Set(['body_too_large', 'form_expired', 'cookie_missing']);

/** Renders a problem as an HTML page. If there is no session, takes the browser to the sign-in page instead. */
export async function sendProblemPage(
  request: FastifyRequest,
  reply: FastifyReply,
  layout: Layout,
  problem: ShownProblem,
): Promise<FastifyReply> {
  const { status, code, title, retryAfterSeconds } = problem;
  if (code === 'session_ended') return sendToSignIn(request, reply);
  if (retryAfterSeconds !== null) reply.header('retry-after', retryAfterSeconds);
  const model = {
    problem: { ...problem, errors: Object.entries(problem.errors) },
    traceId: request.traceId,
    form: rejectedForms.has(code) ? pageAddress(request) : null,
    isSignIn: request.url.startsWith('/sign-in/') || code === 'no_group',
  };
  return sendHtml(reply.code(status), await layout(request, reply, 'pages/problem', model, { title, flash: null }));
}

const otherSitePage = '<!doctype html><html lang="en"><title>Sign in</title><p><a href="/sign-in">Sign in</a></p>';

/** Takes the browser to the sign-in page, which says why. After signing in, the person sees the same page again. */
function sendToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // When a browser follows a link from a different site, it does not send the session cookie, even if the session is
  // still valid. We therefore clear the cookie only if the browser sent it. A form without the cookie was opened before
  // the person signed out elsewhere, because forms from other sites are rejected earlier.
  const isSent = request.cookies[cookieNames.session] !== undefined;
  const isForm = request.method === 'POST';
  if (isSent) reply.clearCookie(cookieNames.session, cookieOptions);
  leaveReturn(request, reply);
  reply.header('cache-control', 'no-store');
  if (isCrossSite(request)) {
    const text =
      'You followed a link from another site, so your browser did not send your session. Sign in, or enter the ' +
      'address of the page in the browser.';
    leaveFlash(reply, { tone: 'note', text });
    // After a redirect, the browser would not send its cookies to the sign-in page either. A page that refreshes begins
    // a navigation on our own site.
    return sendHtml(reply.header('refresh', '0; url=/sign-in'), otherSitePage);
  }
  if (isSent || isForm) {
    const text = `Your session has ended.${isForm ? ' Nothing was saved.' : ''} Sign in again.`;
    leaveFlash(reply, { tone: 'note', text });
  } else if (request.url !== '/')
    leaveFlash(reply, { tone: 'note', text: 'You are not signed in. Sign in to see the page.' });
  return reply.redirect('/sign-in', 303);
}
