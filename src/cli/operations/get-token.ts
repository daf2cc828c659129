import { z } from 'zod';
import { getToken as get } from '../../commands/tokens/get-token.js';
import { asApplication, unwrap } from './as-application.js';
import { operation } from './operation.js';

/** One token as the application may see it. */
export const getToken = operation(z.object({ key: z.string(), id: z.string() }), async (service, { key, id }) => {
  const caller = await asApplication(service, key, 'token:read');
  return unwrap(await get(service.vault, { caller }, id)).body.reveal();
});
