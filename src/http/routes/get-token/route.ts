import { recordReads } from '../../../commands/access-log/record-reads.js';
import { getToken } from '../../../commands/tokens/get-token.js';
import { entityTag, namesRevision } from '../../../commands/tokens/precondition.js';
import { callerOf, contextOf } from '../../request-state.js';
import type { Routes, TokenParams } from '../../routes.js';
import { sendToken } from '../../send-token.js';
import { getTokenOperation as operation } from './operation.js';

/** `GET /tokens/{id}` (specification, "Get a Token"). The hot read: no schema runs here. */
export const getTokenRoute: Routes = (app, { vault }) => {
  app.get<{ Params: TokenParams }>(
    '/tokens/:id',
    { config: { permission: 'token:read', operation } },
    async (request, reply) => {
      const result = await getToken(vault, { caller: callerOf(request) }, request.params.id);
      // Nor may it be said by a server that was deposed that there is no such token.
      if (!result.ok) await vault.confirmReads(request.beganAt, false);
      const known = request.headers['if-none-match'];
      if (result.ok && known !== undefined && namesRevision(known.replaceAll('W/', ''), result.value.revision)) {
        const { stream, revision } = result.value;
        await recordReads(vault, contextOf(request), [{ stream, transform: 'redact' }]);
        return reply.code(304).header('cache-control', 'no-store').header('etag', entityTag(revision)).send();
      }
      return sendToken(vault, request, reply, result, 200);
    },
  );
};
