import { z } from 'zod';
import { deleteToken as remove } from '../../commands/tokens/delete-token.js';
import { asApplication, unwrap } from './as-application.js';
import { operation } from './operation.js';

/** Deletes a token as the application. When it resolves the token is erased. */
export const deleteToken = operation(z.object({ key: z.string(), id: z.string() }), async (service, { key, id }) => {
  const caller = await asApplication(service, key, 'token:delete');
  unwrap(await remove(service.vault, { caller, traceId: service.vault.random.uuid() }, id, null));
  return { deleted: true };
});
