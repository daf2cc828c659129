import { z } from 'zod';
import { updateToken } from '../../../commands/tokens/update-token.js';
import { idempotencyOf } from '../../idempotency.js';
import { contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendToken } from '../../send-token.js';
import { updateTokenBody } from '../../token-body.js';
import { updateTokenOperation as operation } from './operation.js';

/** `PATCH /tokens/{id}` (specification, "Update Token"; RFC 7386). */
export const updateTokenRoute: Routes = (app, { vault }, headerNames) => {
  app.patch(
    '/tokens/:id',
    {
      schema: { params: z.object({ id: z.string() }), body: updateTokenBody },
      config: { permission: 'token:update', mediaType: 'application/merge-patch+json', operation },
    },
    async (request, reply) => {
      const { params, body, headers } = request;
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, `/tokens/${params.id}`);
      const context = { ...contextOf(request), idempotency };
      const result = await updateToken(vault, context, params.id, body, headers['if-match'] ?? null);
      return sendToken(vault, request, reply, result, 200);
    },
  );
};
