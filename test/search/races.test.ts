import { expect, test } from 'vitest';
import type { Caller } from '#src/domain/access/caller.js';
import { finish } from '#src/domain/steps.js';
import { findTokens } from '#src/queries/find-tokens.js';
import { release } from '#src/queries/release.js';
import type { Vault } from '#src/vault/vault.js';
import { startTestService, type TestService } from '../support/test-service.js';

const everything = { kind: 'everything' } as const;
const page = { offset: 0, limit: 20 };

async function callerOf({ service, key }: TestService): Promise<Caller> {
  const caller = await service.authenticate(key);
  if (caller === null) throw new Error('the key is good');
  return caller;
}

/**
 * Returns a vault that calls `happens` once, after a search has read its rows and before it reads the keys of these
 * rows.
 */
function interrupted(vault: Vault, happens: () => Promise<unknown>): Vault {
  let happened = false;
  const { rows } = vault;
  return {
    ...vault,
    rows: {
      get: (stream) => rows.get(stream),
      findByFingerprint: (...args) => rows.findByFingerprint(...args),
      due: (...args) => rows.due(...args),
      nextDueAt: () => rows.nextDueAt(),
      page: (...args) => rows.page(...args),
      countByType: (...args) => rows.countByType(...args),
      walk: (...args) => rows.walk(...args),
      async search(...args) {
        const found = await rows.search(...args);
        if (!happened) {
          happened = true;
          await happens();
        }
        return found;
      },
    },
  };
}

async function ids(vault: Vault, caller: Caller) {
  const { tokens, total } = await findTokens(vault, { caller }, 'token:search', everything, page);
  return { ids: tokens.map(({ id }) => id), total };
}

test('if a token is deleted or replaced before a search reads its key, the token is missing, or is shown in its new form', async () => {
  const service = await startTestService();
  const caller = await callerOf(service);
  for (const id of ['one', 'two', 'three']) await service.call('POST', '/tokens', { id, type: 'token', data: id });
  const deleting = interrupted(service.vault, () => service.call('DELETE', '/tokens/two'));
  expect(await ids(deleting, caller)).toEqual({ ids: ['three', 'one'], total: 2 });
  const beganAt = performance.now();
  const replacing = interrupted(service.vault, () => service.call('PATCH', '/tokens/one', { data: 'new' }));
  const { tokens } = await findTokens(replacing, { caller }, 'token:search', everything, page);
  const render = await release(service.vault, { caller, traceId: 'trace', beganAt }, tokens);
  expect(tokens.map((token) => finish(render(token))?.['data'])).toEqual(['three', 'new']);
  expect(await service.service.state()).toMatchObject({ reasons: [] });
  await service.close();
});

test('if a token expires after a search has read its row and before the response, the token is neither shown nor counted', async () => {
  const service = await startTestService();
  const caller = await callerOf(service);
  const expires_at = new Date(service.clock.now() + 1_000).toISOString();
  await service.call('POST', '/tokens', { id: 'one', type: 'token', data: 1, expires_at });
  await service.call('POST', '/tokens', { id: 'two', type: 'token', data: 1 });
  const expiring = interrupted(service.vault, async () => service.clock.advance(1_000));
  expect(await ids(expiring, caller)).toEqual({ ids: ['two'], total: 1 });
  await service.close();
});

/** If the vault treated a lost key like an erased key, a damaged store would look healthy. */
test('if the key of a live token is lost, the page returns 500, and the service is not ready', async () => {
  const service = await startTestService();
  await service.call('POST', '/tokens', { id: 'good', type: 'token', data: 1 });
  await service.call('POST', '/tokens', { id: 'lost', type: 'token', data: 1 });
  const events = await service.vault.log.readAll(0, 1_000);
  const keyId = String(events.at(-1)?.clear['key']);
  await service.vault.keys.destroy([{ keyId, eventId: '00000000-0000-4000-8000-000000000000' }]);
  expect((await service.call('POST', '/tokens/search', { query: 'id:good' })).status).toBe(200);
  for (const answer of [await service.call('POST', '/tokens/search', {}), await service.call('GET', '/tokens')]) {
    expect([answer.status, answer.body['code']]).toEqual([500, 'key_lost']);
  }
  expect((await service.call('GET', '/health/ready')).status).toBe(503);
  await service.close();
});
