import { z } from 'zod';
import { recordReads } from '../../commands/access-log/record-reads.js';
import { getToken as get } from '../../commands/tokens/get-token.js';
import { asApplication, unwrap } from './as-application.js';
import { operation } from './operation.js';

/** One token as the application may see it. */
export const getToken = operation(z.object({ key: z.string(), id: z.string() }), async (service, { key, id }) => {
  const caller = await asApplication(service, key, 'token:read');
  const token = unwrap(await get(service.vault, { caller }, id));
  await recordReads(service.vault, { caller, traceId: service.vault.random.uuid() }, [token]);
  return token.body.reveal();
});
