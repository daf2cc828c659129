import { expect, onTestFinished, test } from 'vitest';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { operate } from '../audit/operate.js';
import { create, uniqueId } from '../http/routes/support.js';
import { rule, startTestService } from '../support/test-service.js';

const token = { type: 'token', data: 'kept by another application', containers: ['/a/'] };

/** A request that finds no token, and a request for a token that the caller may not read. */
const rejections = ['a token that does not exist', 'a token that the caller may not read'] as const;

test.for(rejections)('%s is not reported from data that may be outdated', async (what) => {
  const service = await startTestService();
  onTestFinished(service.close);
  const key = await service.application([rule('/b/', 'reveal', ['token:read', 'token:use'])]);
  const { id: foreign } = await create(service, token);
  const id = what === rejections[0] ? uniqueId() : String(foreign);
  const requests = {
    'GET /tokens/{id}': () => service.call('GET', `/tokens/${id}`, undefined, { key }),
    'GET /tokens/{id}/history': () => service.call('GET', `/tokens/${id}/history`, undefined, { key }),
    'POST /detokenize': () => service.call('POST', '/detokenize', { it: `{{ ${id} }}` }, { key }),
  };
  const commands = {
    'strongroom tokens get': () => operate(service.service, 'tokens-get', { key, id }),
    'strongroom audit history': () => operate(service.service, 'audit-history', { key, id, page: 1, size: 20 }),
    'strongroom audit erasure': () => operate(service.service, 'audit-erasure', { key, id }),
  };
  const reasons = /no such token|does not exist|may not|not found|unknown token|not allowed/i;
  for (const [name, send] of Object.entries(requests)) {
    expect((await send()).status, name).toBeOneOf([400, 403, 404]);
  }
  for (const [name, run] of Object.entries(commands)) {
    await expect(run(), name).rejects.toThrow(reasons);
  }
  Object.assign(service.vault, {
    async confirmReads() {
      throw new StoreUnavailable('mongodb', 'primary_changed');
    },
  });
  for (const [name, send] of Object.entries(requests)) expect((await send()).status, name).toBe(503);
  for (const [name, run] of Object.entries(commands)) {
    await expect(run(), name).rejects.toThrow(/mongodb|unavailable/i);
  }
});
