import { describe, expect } from 'vitest';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import type { EventLog } from '#src/ports/event-log.js';
import { shredEndedKeys } from '#src/projections/shredder.js';
import { rule, type TestService } from '../../../support/test-service.js';
import { card, create, createPlain, eventsSince, hourMs, path, read, test, uniqueId } from '../support.js';

async function remove(service: TestService, ids: readonly string[], key?: string) {
  const answer = await service.call('POST', '/tokens/delete', { ids }, key === undefined ? {} : { key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Returns how many keys can still be unwrapped although an event marks them for destruction. */
async function livingKeys(service: TestService, streams: readonly string[]): Promise<number> {
  const events = (await service.vault.log.readAll(0, 1_000_000)).filter(({ stream }) => streams.includes(stream));
  const keys = events.flatMap(({ clear }) => [clear['key'], clear['cvc_key']]).filter((key) => typeof key === 'string');
  const used = await Promise.all(keys.map((key) => service.vault.keys.use(service.tenantId, key, () => null)));
  return used.filter(({ state }) => state === 'open').length;
}

describe('200 tokens are deleted by their ids', () => {
  test('all their keys are destroyed before the response is sent, and the ids can be used again', async ({
    service,
  }) => {
    const before = await service.eventCount();
    const tokens = [
      await create(service, { type: 'card', data: card }),
      await createPlain(service, { id: uniqueId("it's") }),
      await createPlain(service),
    ];
    await service.call('PATCH', path(tokens[0]?.id ?? ''), { metadata: { a: 'b' } });
    const streams = (await eventsSince(service, before)).map(({ stream }) => stream);
    expect(await livingKeys(service, streams)).toBeGreaterThan(3);
    const ids = tokens.map(({ id }) => id);
    expect(await remove(service, ids)).toEqual({ deleted: 3, refused: 0, remaining: 0 });
    expect(await livingKeys(service, streams)).toBe(0);
    for (const id of ids) {
      expect((await service.call('GET', path(id))).status).toBe(404);
      await createPlain(service, { id });
    }
  });

  test('tokens that were deleted before another token’s conflict still count', async ({ service }) => {
    const { vault } = service;
    const ids = [uniqueId(), uniqueId(), uniqueId()];
    for (const id of ids) await createPlain(service, { id });
    const keys = await vault.keys.tenantKeys(service.tenantId);
    const streams = ids.map((id) => tokenStream(keys?.names ?? Buffer.alloc(0), id));
    const log = vault.log as { append: EventLog['append'] };
    const { append } = log;
    const isDeleted = async (stream: string) =>
      (await vault.log.readNewest(stream, null, 1))[0]?.type === 'token.deleted';
    // In the embedded profile, one transaction deletes all tokens, so this function is not called.
    log.append = async (stream, ...rest) => {
      if (stream !== streams[0]) return append(stream, ...rest);
      log.append = append;
      await expect.poll(() => Promise.all(streams.slice(1).map(isDeleted))).toEqual([true, true]);
      await shredEndedKeys(vault.log, vault.keys);
      return { outcome: 'conflict' };
    };
    expect(await remove(service, ids)).toEqual({ deleted: 3, refused: 0, remaining: 0 });
    log.append = append;
    expect(await livingKeys(service, streams)).toBe(0);
  });

  test('repeated ids count once, and unknown, deleted, expired and foreign ids do not count', async ({ service }) => {
    const { id } = await createPlain(service);
    const expires_at = new Date(service.clock.now() + hourMs).toISOString();
    const expired = await createPlain(service, { expires_at });
    const deleted = await createPlain(service);
    await service.call('DELETE', path(deleted.id));
    const key = await service.otherTenant();
    const foreign = await create(service, { type: 'token', data: 1 }, { key });
    service.clock.advance(hourMs);
    const ids = [id, 'unknown', id, expired.id, deleted.id, foreign.id, 'a/b', ''];
    expect(await remove(service, ids)).toEqual({ deleted: 1, refused: 0, remaining: 0 });
    expect(await remove(service, ids)).toEqual({ deleted: 0, refused: 0, remaining: 0 });
    expect(await read(service, foreign.id, key)).toEqual(foreign);
    expect(await remove(service, [])).toEqual({ deleted: 0, refused: 0, remaining: 0 });
  });

  test('tokens outside the rules are refused and kept, and the others are deleted', async ({ service }) => {
    const key = await service.application([
      rule('/a/', 'redact', ['token:delete']),
      rule('/', 'reveal', ['token:read', 'token:search']),
    ]);
    const inside = await createPlain(service, { containers: ['/a/b/'] });
    const outside = await createPlain(service);
    const answer = await remove(service, [outside.id, inside.id, 'unknown'], key);
    expect(answer).toEqual({ deleted: 1, refused: 1, remaining: 0 });
    expect(await read(service, outside.id)).toEqual(outside);
  });

  test('1,000 ids can be deleted in one request', async ({ service }) => {
    const ids: string[] = [];
    for (let i = 0; i < 10; i += 1) {
      const answer = await service.call('POST', '/tokenize', Array(100).fill(i));
      ids.push(...(JSON.parse(answer.text) as string[]));
    }
    const before = await service.eventCount();
    expect(await remove(service, ids)).toEqual({ deleted: 1_000, refused: 0, remaining: 0 });
    expect(await service.eventCount()).toBe(before + 1_000);
  });

  test('simultaneous requests delete each token only once', async ({ service }) => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await createPlain(service)).id));
    const before = await service.eventCount();
    const sent = Array.from({ length: 6 }, (_, i) => remove(service, i % 2 ? ids : [...ids].reverse()));
    const answers = await Promise.all(sent);
    expect(await service.eventCount()).toBe(before + 20);
    expect(answers.reduce((sum, { deleted }) => sum + Number(deleted), 0)).toBeGreaterThanOrEqual(20);
  });
});
