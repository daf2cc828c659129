import { z } from 'zod';
import { cookieNames, cookieOptions, themes } from '../cookies.js';
import type { ConsolePage } from '../page.js';
import { ownAddress } from '../return-address.js';

const yearSeconds = 365 * 24 * 3_600;

const form = z.object({
  theme: z.enum(themes),
  back: z.string().regex(ownAddress).max(8_000).optional(),
});

/**
 * Changes the theme. The page works without a script and without a session. The response to a form has no address to
 * return to, so the browser keeps showing it: it may contain a secret that is shown only once.
 */
export const themePage: ConsolePage = {
  routes: [
    {
      method: 'POST',
      path: '/theme',
      session: 'none',
      async handle(visit) {
        const chosen = visit.form(form);
        if (!chosen.ok) return visit.redirect('/');
        visit.reply.setCookie(cookieNames.theme, chosen.value.theme, { ...cookieOptions, maxAge: yearSeconds });
        const { back } = chosen.value;
        return back === undefined ? visit.reply.code(204).send() : visit.redirect(back);
      },
    },
  ],
};
