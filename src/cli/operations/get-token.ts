import { z } from 'zod';
import { recordReads } from '../../commands/access-log/record-reads.js';
import { getToken as get } from '../../commands/tokens/get-token.js';
import { asApplication, unwrap, verbContext } from './as-application.js';
import { operation } from './operation.js';

/** One token as the application may see it. */
export const getToken = operation(z.object({ key: z.string(), id: z.string() }), async (service, { key, id }) => {
  const caller = await asApplication(service, key, 'token:read');
  const context = verbContext(service, caller);
  const token = unwrap(await get(service.vault, context, id));
  await recordReads(service.vault, context, [token]);
  return service.vault.turns.begin(caller.tenantId).run(token.render());
});
