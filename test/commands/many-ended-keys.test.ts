import { expect, onTestFinished, test } from 'vitest';
import { updateToken } from '#src/commands/tokens/update-token.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { tenantKeysOf } from '#src/vault/tenant-keys.js';
import { startTestService } from '../support/test-service.js';
import { updatedOften } from '../vault/updated-often.js';

test('an update that changes nothing succeeds even after more than a hundred thousand updates', async () => {
  const service = await startTestService();
  onTestFinished(service.close);
  await service.call('POST', '/tokens', { id: 'often', type: 'token', data: 'x' });
  const { vault, tenantId } = service;
  const stream = tokenStream((await tenantKeysOf(vault, tenantId)).names, 'often');
  const log = { ...vault.log, ...updatedOften({ tenantId, stream, updates: 130_000 }).log };
  let destroyed = 0;
  const keys: typeof vault.keys = {
    ...vault.keys,
    async destroy(ended) {
      destroyed = ended.length;
      return 0;
    },
  };
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key must be valid');
  const context = { caller, traceId: 'trace', beganAt: performance.now(), idempotency: null };
  const updated = await updateToken({ ...vault, log, keys }, context, 'often', {}, null);
  expect(updated).toMatchObject({ ok: true });
  expect(destroyed).toBe(130_000);
});
