import { describe, expect, vi } from 'vitest';
import { ForgedLog } from '#src/ports/event-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { streamOf } from '../../../erasure/support.js';
import { profile } from '../../../support/profile.js';
import type { TestService } from '../../../support/test-service.js';
import { metric } from '../../limits/support.js';
import { createPlain, path, test, uniqueId } from '../support.js';

/** Makes the key store fail whenever it should destroy keys. The returned function removes the fault. */
function keysStay(service: TestService): () => void {
  const failing = vi
    .spyOn(service.vault.keys, 'destroy')
    .mockImplementation(() => Promise.reject(new StoreUnavailable('keys.db', 'full')));
  return () => failing.mockRestore();
}

async function tokensOf(service: TestService, person: string): Promise<readonly string[]> {
  const tokens = [1, 2, 3].map(() => createPlain(service, { metadata: { person } }));
  return (await Promise.all(tokens)).map(({ id }) => id);
}

async function openKeys(service: TestService): Promise<number> {
  const ended = (await service.vault.log.readAll(0, 1_000_000)).flatMap(
    ({ clear }) => (clear['ends'] ?? []) as string[],
  );
  const used = await Promise.all(ended.map((key) => service.vault.keys.use(service.tenantId, key, () => null)));
  return used.filter(({ state }) => state === 'open').length;
}

describe('503 no reader finds the tokens any longer, and a retry finishes the erasure', () => {
  test.for(['ids', 'query'] as const)('if keys cannot be destroyed yet: %s', async (by, { service }) => {
    const person = uniqueId();
    const ids = await tokensOf(service, person);
    const body = by === 'ids' ? { ids } : { query: `metadata.person:"${person}"` };
    const guesses = () => metric(service, 'strongroom_guesses_total{budget="guesses"}');
    const before = await guesses();
    const mend = keysStay(service);
    for (const _ of [1, 2]) {
      const answer = await service.call('POST', '/tokens/delete', body);
      expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
      expect(answer.headers['retry-after']).toBeDefined();
    }
    for (const id of ids) expect((await service.call('GET', path(id))).status).toBe(404);
    expect(await openKeys(service)).toBe(3);
    mend();
    const answer = await service.call('POST', '/tokens/delete', body);
    expect(answer).toMatchObject({ status: 200, body: { deleted: by === 'ids' ? 3 : 0, refused: 0, remaining: 0 } });
    expect(await openKeys(service), 'no key lives when the answer is 200').toBe(0);
    expect(await guesses(), 'a retry knows the ids').toBe(before);
  });

  test('even if another process receives the retry', async ({ service, skip }) => {
    skip(profile === 'embedded', 'one process serves all requests');
    const person = uniqueId();
    await tokensOf(service, person);
    const mend = keysStay(service);
    const body = { query: `metadata.person:"${person}"` };
    expect((await service.call('POST', '/tokens/delete', body)).status).toBe(503);
    mend();
    // Another process does not know that the deletion is unfinished.
    service.vault.unfinishedErasures.forgetTenant(service.tenantId);
    expect(await openKeys(service)).toBe(3);
    const answer = await service.call('POST', '/tokens/delete', body);
    expect(answer).toMatchObject({ status: 200, body: { deleted: 0, refused: 0, remaining: 0 } });
    expect(await openKeys(service), 'no key lives when the answer is 200').toBe(0);
  });

  test('even if a new token has the id of a deleted token', async ({ service }) => {
    const person = uniqueId();
    const ids = await tokensOf(service, person);
    const mend = keysStay(service);
    const body = { query: `metadata.person:"${person}"` };
    expect((await service.call('POST', '/tokens/delete', body)).status).toBe(503);
    await createPlain(service, { id: ids[0] });
    mend();
    expect((await service.call('POST', '/tokens/delete', body)).body).toEqual({ deleted: 0, refused: 0, remaining: 0 });
    expect(await openKeys(service)).toBe(0);
    expect((await service.call('GET', path(String(ids[0])))).status, 'the new token').toBe(200);
  });

  test('if the change cannot be stored, nothing is deleted, and a retry deletes the tokens', async ({ service }) => {
    const ids = await tokensOf(service, uniqueId());
    const failing = vi
      .spyOn(service.vault.work, 'commit')
      .mockImplementation(() => Promise.reject(new StoreUnavailable('vault.db', 'full')));
    const before = await service.eventCount();
    expect((await service.call('POST', '/tokens/delete', { ids })).status).toBe(503);
    failing.mockRestore();
    expect(await service.eventCount()).toBe(before);
    for (const id of ids) expect((await service.call('GET', path(id))).status).toBe(200);
    // The access log records a deletion of these tokens, but the tokens are still alive. A later delete by query must
    // not complete that deletion.
    await service.call('POST', '/tokens/delete', { query: `metadata.person:"${uniqueId()}"` });
    for (const id of ids) expect((await service.call('GET', path(id))).status).toBe(200);
    const answer = await service.call('POST', '/tokens/delete', { ids });
    expect(answer.body).toEqual({ deleted: 3, refused: 0, remaining: 0 });
  });
});

describe('the vault remembers only deletions that must be finished', () => {
  test('ids of no token, and deletions that failed before they were recorded, are not remembered', async ({
    service,
  }) => {
    const { keys, unfinishedErasures } = service.vault;
    const [id = ''] = await tokensOf(service, uniqueId());
    const closed = vi.spyOn(keys, 'use').mockRejectedValue(new StoreUnavailable('keys.db', 'busy'));
    expect((await service.call('POST', '/tokens/delete', { ids: [id] })).status).toBe(503);
    closed.mockRestore();
    expect(unfinishedErasures.of(service.tenantId)).toEqual([]);
    const mend = keysStay(service);
    expect((await service.call('POST', '/tokens/delete', { ids: [id, uniqueId(), uniqueId()] })).status).toBe(503);
    mend();
    expect(unfinishedErasures.of(service.tenantId)).toEqual([await streamOf(service, id)]);
    expect((await service.call('POST', '/tokens/delete', { ids: [id] })).body).toMatchObject({ deleted: 1 });
    expect(unfinishedErasures.of(service.tenantId)).toEqual([]);
  });

  test('while many deletions are unfinished, no more tokens are deleted', async ({ service }) => {
    const { unfinishedErasures } = service.vault;
    const [first = '', second = '', third = ''] = await tokensOf(service, uniqueId());
    const mend = keysStay(service);
    expect((await service.call('POST', '/tokens/delete', { ids: [first] })).status).toBe(503);
    const others = Array.from({ length: 999 }, () => uniqueId('token'));
    unfinishedErasures.remember(service.tenantId, others);
    for (const id of [second, third]) {
      expect((await service.call('POST', '/tokens/delete', { ids: [id] })).status).toBe(503);
      expect((await service.call('GET', path(id))).status, 'not deleted').toBe(200);
    }
    expect(unfinishedErasures.of(service.tenantId)).toHaveLength(1_000);
    mend();
    expect((await service.call('POST', '/tokens/delete', { ids: [second, third] })).body).toMatchObject({ deleted: 2 });
    expect(unfinishedErasures.of(service.tenantId)).toEqual([]);
    expect(await openKeys(service)).toBe(0);
  });

  test('if one token cannot be loaded, the deletions of the others are still finished', async ({ service }) => {
    const person = uniqueId();
    const ids = await tokensOf(service, person);
    const mend = keysStay(service);
    expect((await service.call('POST', '/tokens/delete', { ids })).status).toBe(503);
    mend();
    const { log } = service.vault;
    const { readFrom } = log;
    const broken = await streamOf(service, String(ids[0]));
    const failing = vi
      .spyOn(log, 'readFrom')
      .mockImplementation(async (stream, ...page) =>
        stream === broken ? Promise.reject(new ForgedLog('a test')) : readFrom(stream, ...page),
      );
    const body = { query: `metadata.person:"${person}"` };
    expect((await service.call('POST', '/tokens/delete', body)).status, 'keys of one token still exist').toBe(500);
    expect(await openKeys(service)).toBe(1);
    failing.mockRestore();
    expect((await service.call('POST', '/tokens/delete', body)).status).toBe(200);
    expect(await openKeys(service)).toBe(0);
  });
});

test('a token that changes after it was found is left for the next request', async ({ service }) => {
  const person = uniqueId();
  const [id = ''] = await tokensOf(service, person);
  const { search } = service.vault.rows;
  let searched = false;
  const changing = vi.spyOn(service.vault.rows, 'search').mockImplementation(async (plan, page) => {
    const found = await search(plan, page);
    if (!searched) {
      searched = true;
      await service.call('PATCH', path(id), { metadata: { person: 'somebody else' } });
    }
    return found;
  });
  const query = `metadata.person:"${person}"`;
  const first = await service.call('POST', '/tokens/delete', { query });
  changing.mockRestore();
  expect(first.body).toEqual({ deleted: 2, refused: 0, remaining: 1 });
  expect((await service.call('POST', '/tokens/delete', { query })).body).toEqual({
    deleted: 0,
    refused: 0,
    remaining: 0,
  });
  expect((await service.call('GET', path(id))).status, 'it no longer belongs to that person').toBe(200);
});
