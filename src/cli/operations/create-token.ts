import { z } from 'zod';
import { recordReads } from '../../commands/access-log/record-reads.js';
import { createToken as create } from '../../commands/tokens/create-token.js';
import { createTokenBody } from '../../http/token-body.js';
import { asApplication, unwrap, verbContext } from './as-application.js';
import { operation } from './operation.js';

/** Creates a token as the application. */
export const createToken = operation(
  z.object({ key: z.string(), request: createTokenBody }),
  async (service, { key, request }) => {
    const caller = await asApplication(service, key, 'token:create');
    const context = { ...verbContext(service, caller), idempotency: null };
    const token = unwrap(await create(service.vault, context, request));
    await recordReads(service.vault, context, [token]);
    return service.vault.turns.begin(caller.tenantId).run(token.render());
  },
);
