import { rm } from 'node:fs/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { embeddedOnly } from '../../../support/profile.js';
import { startTestService, type TestService } from '../../../support/test-service.js';
import { create, createPlain, path, test, uniqueId } from '../support.js';

type Step = { readonly ids: readonly string[]; readonly next: string | null; readonly pagination: object };

/** Returns one page of a list or search for the tokens of a group. Fails the test if the status is not 200. */
async function step(
  service: TestService,
  by: 'list' | 'search',
  group: string,
  start: string | null,
  size = 2,
): Promise<Step> {
  const cursor = start === null ? '' : `&start=${start}`;
  const { status, text, body } =
    by === 'list'
      ? await service.call('GET', `/v2/tokens?metadata.group=${group}&size=${size}${cursor}`)
      : await service.call('POST', '/v2/tokens/search', { query: `metadata.group:${group}`, size, start });
  expect(status, text).toBe(200);
  expect(Object.keys(body)).toEqual(['pagination', 'data']);
  const pagination = body['pagination'] as { readonly page_size: number; readonly next: string | null };
  const ids = (body['data'] as readonly { readonly id: string }[]).map(({ id }) => id);
  return { ids, next: pagination.next, pagination };
}

describe.for(['list', 'search'] as const)('a %s is paged by cursor', (by) => {
  test('newest first, with page_size and next; next is null on the last page, even if that page is full', async ({
    service,
  }) => {
    const group = uniqueId('group');
    const made: string[] = [];
    for (let i = 0; i < 4; i += 1) made.unshift((await createPlain(service, { metadata: { group } })).id);
    const first = await step(service, by, group, null);
    expect(first).toEqual({
      ids: made.slice(0, 2),
      next: expect.any(String),
      pagination: { page_size: 2, next: first.next },
    });
    expect(await step(service, by, group, first.next)).toMatchObject({ ids: made.slice(2), next: null });
  });

  test('during concurrent creates and deletes, every token that stays is returned once, newest first', async ({
    service,
  }) => {
    const group = uniqueId('group');
    const create = async () => (await createPlain(service, { metadata: { group } })).id;
    const staying: string[] = [];
    const leaving: string[] = [];
    for (let i = 0; i < 40; i += 1) (i % 2 === 0 ? staying : leaving).unshift(await create());
    let isDone = false;
    const writing = (async () => {
      while (!isDone) {
        await create();
        const id = leaving.pop();
        if (id !== undefined) expect((await service.call('DELETE', path(id))).status).toBe(204);
      }
    })();
    const met: string[] = [];
    try {
      let next: string | null = null;
      do {
        const page = await step(service, by, group, next, 3);
        met.push(...page.ids);
        next = page.next;
      } while (next !== null);
    } finally {
      isDone = true;
      await writing;
    }
    expect(new Set(met).size).toBe(met.length);
    expect(met.filter((id) => staying.includes(id))).toEqual(staying);
  });

  test('creates and deletes between pages neither repeat nor hide another token', async ({ service }) => {
    const group = uniqueId('group');
    const made: string[] = [];
    for (let i = 0; i < 9; i += 1) made.unshift((await createPlain(service, { metadata: { group } })).id);
    const met: string[] = [];
    const gone: string[] = [];
    for (let start: string | null = null, page = 0; page === 0 || start !== null; page += 1) {
      const found: Step = await step(service, by, group, start);
      met.push(...found.ids);
      start = found.next;
      // Deletes one token that a page has already returned and one that no page has returned yet. A new token is
      // created below.
      const doomed = [met.at(-1), made.filter((id) => !met.includes(id) && !gone.includes(id)).at(-1)];
      for (const id of page < 2 ? doomed : []) {
        if (id === undefined) continue;
        gone.push(id);
        expect((await service.call('DELETE', path(id))).status).toBe(204);
      }
      await createPlain(service, { metadata: { group } });
    }
    expect(new Set(met).size).toBe(met.length);
    expect(met.filter((id) => !gone.includes(id))).toEqual(made.filter((id) => !gone.includes(id)));
  });

  test('two cursors for the same position do not begin with the same nonce', async ({ service }) => {
    const group = uniqueId('group');
    for (let i = 0; i < 3; i += 1) await createPlain(service, { metadata: { group } });
    const [one, two] = [await step(service, by, group, null), await step(service, by, group, null)];
    expect(one.ids).toEqual(two.ids);
    // The first 16 characters of a cursor are its nonce.
    expect(one.next?.slice(0, 16)).not.toBe(two.next?.slice(0, 16));
  });

  test('400 for a cursor that is forged or changed, or belongs to another query or route', async ({ service }) => {
    const [group, other] = [uniqueId('group'), uniqueId('group')];
    for (let i = 0; i < 3; i += 1) await createPlain(service, { metadata: { group } });
    const { next } = await step(service, by, group, null);
    const cursor = String(next);
    const flipped = `${cursor.slice(0, 20)}${cursor[20] === 'A' ? 'B' : 'A'}${cursor.slice(21)}`;
    const send = (asked: string, start: string, as: 'list' | 'search' = by) =>
      as === 'list'
        ? service.call('GET', `/v2/tokens?metadata.group=${asked}&size=2&start=${encodeURIComponent(start)}`)
        : service.call('POST', '/v2/tokens/search', { query: `metadata.group:${asked}`, size: 2, start });
    const another = by === 'list' ? 'search' : 'list';
    const answers = [
      await send(group, flipped),
      await send(group, ''),
      await send(group, 'x'.repeat(48)),
      await send(group, `${cursor}=`),
      await send(other, cursor),
      await send(group, cursor, another),
    ];
    for (const answer of answers) {
      expect(answer.status, answer.text).toBe(400);
      expect(answer.body['code']).toBe('validation_failed');
    }
    expect((await send(group, cursor)).status).toBe(200);
  });
});

test('a cursor is valid for the same metadata filters in any order and form', async ({ service }) => {
  // Joined by commas, the first two filters are equal.
  const x = uniqueId();
  const metadata = { a: `${x},c`, [`a,${x}`]: 'c', b: 'x' };
  for (let i = 0; i < 2; i += 1) await createPlain(service, { metadata });
  const list = (query: string) => service.call('GET', `/v2/tokens?size=1&${query}`);
  const filters = Object.entries(metadata).map(([key, value]) => `metadata.${key}=${value}`);
  const { next } = (await list(filters.join('&'))).body['pagination'] as { readonly next: string };
  const json = encodeURIComponent(JSON.stringify(metadata));
  for (const other of [filters.toReversed().join('&'), `metadata=${json}`]) {
    const { status, text } = await list(`${other}&start=${next}`);
    expect(status, text).toBe(200);
  }
});

test('a list contains only the tokens that match each of its filters', async ({ service }) => {
  const metadata = { group: uniqueId('group') };
  const one = await createPlain(service, { data: uniqueId(), metadata });
  const other = await create(service, { type: 'card_number', data: '4242424242424242', metadata });
  for (const [filter, ids] of [
    ['', [other.id, one.id]],
    ['&type=token', [one.id]],
    ['&type=card_number', [other.id]],
    ['&container=%2Fpci%2Fhigh%2F', [other.id]],
    ['&container=%2F', []],
    [`&fingerprint=${one['fingerprint']}`, [one.id]],
  ] as const) {
    const { body } = await service.call('GET', `/v2/tokens?metadata.group=${metadata.group}${filter}`);
    expect(body['data'], filter).toMatchObject(ids.map((id) => ({ id })));
  }
});

test('the requests of Basis Theory’s published clients find the same tokens', async ({ service }) => {
  const group = uniqueId('group');
  const container = '/published/clients/';
  const { id } = await createPlain(service, { metadata: { group }, containers: [container] });
  await createPlain(service, { metadata: { group } });
  const { body } = await service.call('GET', path(id));
  const fingerprint = String(body['fingerprint']);
  const filters = `type=token&container=${encodeURIComponent(container)}&fingerprint=${fingerprint}&size=20`;
  const requests = [
    // The TypeScript client sends metadata filters as JSON. The Python client sends them in brackets.
    ['GET', `/v2/tokens?${filters}&metadata=${encodeURIComponent(JSON.stringify({ group }))}`],
    ['GET', `/v2/tokens?${filters}&metadata%5Bgroup%5D=${group}`],
    ['POST', '/v2/tokens/search', { query: `metadata.group:${group} AND container:${container}`, size: 20 }],
  ] as const;
  for (const [method, url, sent] of requests) {
    const found = await service.call(method, url, sent);
    expect(found.status, found.text).toBe(200);
    expect(found.body).toMatchObject({ pagination: { page_size: 20, next: null }, data: [{ id }] });
  }
});

test('a cursor from before a restart still works', async ({ skip }) => {
  embeddedOnly({ skip }, 'a test service of the cluster is not started again');
  const group = uniqueId('group');
  const first = await startTestService();
  const made: string[] = [];
  for (let i = 0; i < 3; i += 1) made.unshift((await createPlain(first, { metadata: { group } })).id);
  const before = await step(first, 'list', group, null);
  await first.stop();
  const again = await startTestService({ dataDir: first.dataDir, rootKey: first.rootKey });
  onTestFinished(async () => {
    await again.stop();
    await rm(first.dataDir, { recursive: true });
  });
  const { status, body } = await again.call(
    'GET',
    `/v2/tokens?metadata.group=${group}&size=2&start=${before.next}`,
    undefined,
    { key: first.key },
  );
  expect(status).toBe(200);
  expect(body).toMatchObject({ pagination: { next: null }, data: [{ id: made[2] }] });
});
