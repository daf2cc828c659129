import { z } from 'zod';
import { recordManagementRead } from '../../commands/access-log/record-management-read.js';
import { tenantKeysOf } from '../../commands/tenant-keys.js';
import { tokenHistory } from '../../commands/tokens/token-history.js';
import { grantsAnywhere } from '../../domain/access/decide-access.js';
import { endedKeys } from '../../events/ended-keys.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { pageAnswer, pageFields, rangeOf } from '../../http/pagination.js';
import { unwrap, verbContext } from './as-application.js';
import { OperationFailed, operation } from './operation.js';

/**
 * What happened to a token, as `GET /tokens/{id}/history` answers the application; with each event that sealed values
 * whether these are kept or erased.
 */
export const auditHistory = operation(
  z.object({ key: z.string(), id: z.string(), ...pageFields }),
  async (service, { key, id, ...page }) => {
    const { vault } = service;
    const caller = await service.authenticate(key);
    if (caller === null) throw new OperationFailed('the key is not one of a living application. Check the key file.');
    if (!grantsAnywhere(caller, 'log:read') && !grantsAnywhere(caller, 'token:read')) {
      throw new OperationFailed('the application holds neither log:read nor token:read. Use the key of one that does.');
    }
    const context = verbContext(service, caller);
    const { entries, total } = unwrap(await tokenHistory(vault, caller, id, rangeOf(page)));
    const events = await vault.log.readStream(tokenStream((await tenantKeysOf(vault, caller.tenantId)).names, id));
    await vault.confirmReads(context.beganAt, false);
    await recordManagementRead(vault, context, 'token', id);
    const ended = new Set(endedKeys(events).map(({ keyId }) => keyId));
    const data = entries.map((entry) => {
      const sealedBy = events.find(({ revision }) => revision === entry['revision'])?.clear['key'];
      return typeof sealedBy === 'string' ? { ...entry, values: ended.has(sealedBy) ? 'erased' : 'kept' } : entry;
    });
    return pageAnswer(page, total, data);
  },
);
