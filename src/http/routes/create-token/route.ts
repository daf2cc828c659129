import { createToken } from '../../../commands/tokens/create-token.js';
import { idempotencyOf } from '../../idempotency.js';
import { contextOf } from '../../request-state.js';
import type { Routes } from '../../routes.js';
import { sendToken } from '../../send-token.js';
import { createTokenBody } from '../../token-body.js';
import { createTokenOperation as operation } from './operation.js';

/** `POST /tokens` (specification, "Create Token"). */
export const createTokenRoute: Routes = (app, { vault }, headerNames) => {
  app.post(
    '/tokens',
    {
      schema: { body: createTokenBody },
      config: { permission: 'token:create', mediaType: 'application/json', operation },
    },
    async (request, reply) => {
      const { body } = request;
      const idempotency = idempotencyOf(request, headerNames.idempotencyKey, '/tokens');
      const result = await createToken(vault, { ...contextOf(request), idempotency }, body);
      if (result.ok) reply.header('location', `/tokens/${encodeURIComponent(result.value.id)}`);
      return sendToken(vault, request, reply, result, 201);
    },
  );
};
