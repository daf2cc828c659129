import { expect, onTestFinished, test } from 'vitest';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import type { KeyRing } from '#src/keys/key-ring.js';
import { shredEndedKeys, shredWholeLog } from '#src/projections/shredder.js';
import { acceptLog } from '#src/vault/log-behind.js';
import { startTestService } from '../support/test-service.js';

test('an accepted log leaves its revisions recorded, even if a worker that was left running shreds meanwhile', async () => {
  const service = await startTestService();
  onTestFinished(service.close);
  const { vault, tenantId } = service;
  await service.call('POST', '/tokens', { id: 'one', type: 'token', data: 'x' });
  await service.call('PATCH', '/tokens/one', { metadata: { a: 'b' } });
  const names = (await vault.keys.tenantKeys(tenantId))?.names;
  if (names === undefined) throw new Error('the tenant has keys');
  const key = (await vault.rows.get(tokenStream(names, 'one')))?.state.life?.key ?? '';
  const recorded = async () => {
    const used = await vault.keys.use(tenantId, key, () => null);
    const tenant = await vault.keys.directoryRevisions([{ kind: 'tenant', id: tenantId }]);
    return [used.state === 'open' ? used.revision : used.state, tenant.get(`tenant-${tenantId}`)];
  };
  const before = await recorded();
  expect(before).toEqual([1, expect.any(Number)]);
  const keys: KeyRing = {
    ...vault.keys,
    async forgetRevisions() {
      await shredEndedKeys(vault.log, vault.keys);
      await vault.keys.saveCheckpoint('shredder', await vault.log.head());
      await vault.keys.forgetRevisions();
    },
  };
  await acceptLog({ ...vault, keys }, () => shredWholeLog(vault.log, vault.keys, Number.POSITIVE_INFINITY));
  // As when a process starts.
  await shredEndedKeys(vault.log, vault.keys);
  expect(await recorded()).toEqual(before);
});
