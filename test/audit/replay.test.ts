import { afterEach, beforeEach, expect, test } from 'vitest';
import type { OperationName } from '#src/cli/operations.js';
import type { JsonObject } from '#src/domain/json.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { replayToken } from '#src/queries/replay-token.js';
import { tenantKeysOf } from '#src/vault/tenant-keys.js';
import { rule, startTestService, type TestService } from '../support/test-service.js';
import { operate } from './operate.js';

const aMinute = 60_000;
let service: TestService;

beforeEach(async () => {
  service = await startTestService();
});

afterEach(() => service.close());

async function ask(name: OperationName, input: JsonObject): Promise<JsonObject> {
  return (await operate(service.service, name, { key: service.key, ...input })) as JsonObject;
}

const create = async (body: JsonObject) => expect((await service.call('POST', '/tokens', body)).status).toBe(201);
const update = async (id: string, body: JsonObject) =>
  expect((await service.call('PATCH', `/tokens/${id}`, body)).status).toBe(200);
const remove = async (id: string) => expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
const head = async () => String(await service.vault.log.head());
const replay = (id: string, asOf: string, more: JsonObject = {}) =>
  ask('audit-replay', { id, asOf, reveal: false, ...more });

/** Runs a query to completion, step by step, and returns all tokens found by the query. */
async function replayQuery(query: string, asOf: string, more: JsonObject = {}) {
  const found: JsonObject[] = [];
  let erased = 0;
  let withheld = 0;
  for (let after: number | null = 0; after !== null; ) {
    const step = await ask('audit-replay-query', { query, asOf, reveal: false, after, found: found.length, ...more });
    found.push(...(step['tokens'] as JsonObject[]));
    erased += Number(step['erased']);
    withheld += Number(step['withheld']);
    after = step['next'] as number | null;
  }
  return { ids: found.map(({ id }) => id), found, erased, withheld };
}

test('a token is shown as it was at that time, and is masked unless a caller that may see plaintext requests it', async () => {
  await create({ type: 'card_number', id: 'card', data: '4242424242424242', metadata: { step: 'one' } });
  const first = await head();
  const then = new Date(service.clock.now()).toISOString();
  service.clock.advance(aMinute);
  await update('card', { metadata: { step: 'two' } });
  expect(await replay('card', await head())).toMatchObject({ metadata: { step: 'two' } });
  for (const asOf of [first, then]) {
    const token = await replay('card', asOf);
    expect(token).toMatchObject({ id: 'card', metadata: { step: 'one' }, data: 'XXXXXXXXXXXX4242' });
    expect(token['modified_at']).toBeUndefined();
    // The update replaced the old content, including the metadata, but not the data. Only a change of the data replaces
    // the data key, so the older version of the data can still be decrypted.
    expect(await replay('card', asOf, { reveal: true })).toMatchObject({ data: '4242424242424242' });
  }
  const masking = await service.application([rule('/', 'mask', ['token:read'])]);
  await expect(replay('card', await head(), { key: masking, reveal: true })).rejects.toThrow(
    'may not see this token in plaintext',
  );
  expect(await replay('card', await head(), { key: masking })).toMatchObject({ data: 'XXXXXXXXXXXX4242' });
});

test('a masked caller cannot use an earlier state to get around a tightened mask or read removed metadata', async () => {
  await create({
    type: 'token',
    id: 'tightened',
    data: { ssn: '078-05-1120' },
    mask: { ssn: '{{ data.ssn }}' },
    metadata: { email: 'ada@example.com' },
  });
  await create({ type: 'token', id: 'unchanged', data: 'a', mask: 'a mask', metadata: { email: 'ada@example.com' } });
  const then = await head();
  await update('tightened', { mask: { ssn: '{{ data.ssn | reveal_last: 4 }}' }, metadata: null });
  const masking = await service.application([rule('/', 'mask', ['token:read', 'token:search'])]);
  const redacting = await service.application([rule('/', 'redact', ['token:read', 'token:search'])]);
  for (const key of [masking, redacting]) {
    await expect(replay('tightened', then, { key })).rejects.toThrow('the token has changed since that moment');
    // A match would confirm a guess of the removed metadata.
    for (const query of ['', 'metadata.email:ada@example.com']) {
      expect(await replayQuery(query, then, { key })).toMatchObject({ ids: ['unchanged'], withheld: 1 });
    }
  }
  expect(await replay('tightened', await head(), { key: masking })).toMatchObject({ data: { ssn: 'XXX-XX-1120' } });
  expect(await replay('unchanged', then, { key: masking })).toMatchObject({ data: 'a mask' });
  const using = await service.application([
    rule('/', 'mask', ['token:read', 'token:search']),
    rule('/', 'reveal', ['token:use']),
  ]);
  for (const key of [using, service.key]) {
    expect(await replay('tightened', then, { key })).toMatchObject({
      data: { ssn: '078-05-1120' },
      metadata: { email: 'ada@example.com' },
    });
    expect(await replayQuery('metadata.email:ada@example.com', then, { key })).toMatchObject({
      ids: ['tightened', 'unchanged'],
      withheld: 0,
    });
  }
});

test('a caller that may see the plaintext only then or only now does not see the earlier state', async () => {
  const rules = [rule('/clear/', 'reveal', ['token:read']), rule('/masked/', 'mask', ['token:read'])];
  const key = await service.application(rules);
  await create({ type: 'token', id: 'out', data: 'a', containers: ['/clear/'] });
  await create({ type: 'token', id: 'into', data: 'b', containers: ['/masked/'], mask: 'a mask' });
  const then = await head();
  await update('out', { containers: ['/masked/'] });
  await update('into', { containers: ['/clear/'] });
  for (const id of ['out', 'into']) {
    await expect(replay(id, then, { key })).rejects.toThrow('the token has changed since that moment');
  }
});

test('data that has since been replaced or deleted, or has since expired, is erased and does not come back', async () => {
  await create({ type: 'token', id: 'replaced', data: 'old value' });
  await create({ type: 'token', id: 'deleted', data: 'gone value' });
  await create({
    type: 'token',
    id: 'short',
    data: 'short value',
    expires_at: new Date(service.clock.now() + aMinute).toISOString(),
  });
  const then = await head();
  await update('replaced', { data: 'new value' });
  await remove('deleted');
  // At the position `then`, the expiry was not recorded yet, and the keys still existed.
  service.clock.advance(2 * aMinute);
  for (const id of ['replaced', 'deleted', 'short']) {
    const token = await replay(id, then, { reveal: true });
    expect(token).toMatchObject({ id, erased: true, type: 'token' });
    expect(JSON.stringify(token)).not.toContain('value');
  }
  // The expiry is still not recorded, but the token did not exist anymore.
  const later = new Date(service.clock.now()).toISOString();
  await expect(replay('short', later)).rejects.toThrow('the token did not exist at that moment');
  await create({ type: 'token', id: 'deleted', data: 'second life' });
  expect(await replay('deleted', then)).toMatchObject({ erased: true });
  expect(await replay('deleted', await head(), { reveal: true })).toMatchObject({ data: 'second life' });
});

test('an earlier state can still be read after the expiry that it had, if the token has no expiry anymore', async () => {
  const expires_at = new Date(service.clock.now() + aMinute).toISOString();
  await create({ type: 'token', id: 'kept', data: 'kept value', expires_at });
  const then = await head();
  await update('kept', { expires_at: null });
  service.clock.advance(2 * aMinute);
  expect(await replay('kept', then, { reveal: true })).toMatchObject({ data: 'kept value' });
});

test('a replay of a token that has been erased since is in the access log', async () => {
  await create({ type: 'token', id: 'deleted', data: 'gone value' });
  const then = await head();
  await remove('deleted');
  expect(await replay('deleted', then)).toMatchObject({ erased: true });
  const path = '/logs?entity_id=deleted&operation=read';
  const { body } = await service.call('GET', path, undefined, { key: service.managementKey });
  expect(body['data']).toEqual([expect.objectContaining({ message: 'history of a token read' })]);
});

test('no replay contains a verification code', async () => {
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '987' };
  await create({ type: 'card', id: 'card', data });
  const token = await replay('card', await head(), { reveal: true });
  expect(JSON.stringify(token)).not.toMatch(/"987"/);
});

test('a caller that sees only masks may see the state before a verification code was purged', async () => {
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '987' };
  await create({ type: 'card', id: 'purged', data });
  const then = await head();
  const key = await service.application([rule('/', 'mask', ['token:read'])]);
  expect((await service.call('DELETE', '/tokens/purged/cvc')).status).toBe(204);
  expect(await replay('purged', then, { key })).toMatchObject({ data: { number: 'XXXXXXXXXXXX4242' } });
});

test('a caller that may not read the token now cannot read its past either', async () => {
  await create({ type: 'token', id: 'moved', data: 'value', containers: ['/open/'] });
  const then = await head();
  const open = await service.application([rule('/open/', 'reveal', ['token:read', 'token:search'])]);
  expect(await replay('moved', then, { key: open, reveal: true })).toMatchObject({ data: 'value' });
  await update('moved', { containers: ['/closed/'] });
  await expect(replay('moved', then, { key: open })).rejects.toThrow('may not read');
  expect((await replayQuery('', then, { key: open })).ids).toEqual([]);
  await remove('moved');
  await expect(replay('moved', then, { key: open })).rejects.toThrow('the token did not exist at that moment');
});

test('a query returns the tokens that it would have returned at that moment', async () => {
  await create({ type: 'token', id: 'red', data: 'a', metadata: { colour: 'red' } });
  await create({ type: 'social_security_number', id: 'ssn', data: '123-45-6789' });
  await create({ type: 'token', id: 'later-blue', data: 'b', metadata: { colour: 'red' } });
  await create({ type: 'token', id: 'gone', data: 'c', metadata: { colour: 'red' } });
  const then = await head();
  const time = new Date(service.clock.now()).toISOString();
  service.clock.advance(aMinute);
  await update('later-blue', { metadata: { colour: 'blue' } });
  await remove('gone');
  await create({ type: 'token', id: 'after', data: 'd', metadata: { colour: 'red' } });
  for (const asOf of [then, time]) {
    expect(await replayQuery('metadata.colour:red', asOf)).toMatchObject({ ids: ['red', 'later-blue'], erased: 1 });
  }
  const now = await head();
  expect((await replayQuery('metadata.colour:red', now)).ids).toEqual(['red', 'after']);
  expect((await replayQuery('NOT metadata.colour:red', now)).ids).toEqual(['ssn', 'later-blue']);
  expect((await replayQuery('data:6789 OR id:after', then)).ids).toEqual(['ssn']);
  expect((await replayQuery('type:token AND created_at:[2000-01-01 TO *]', then)).ids).toEqual(['red', 'later-blue']);
  const { found } = await replayQuery('id:ssn', then);
  expect(found[0]).toMatchObject({ data: 'XXX-XX-6789' });
  await expect(replayQuery('colour:red', then)).rejects.toThrow('query');
});

test('a reused id is found once, in the life that the token had at that moment', async () => {
  await create({ type: 'token', id: 'again', data: 'a', metadata: { life: 'one' } });
  const first = await head();
  await remove('again');
  const between = await head();
  await create({ type: 'token', id: 'again', data: 'b', metadata: { life: 'two' } });
  expect(await replayQuery('', first)).toMatchObject({ ids: [], erased: 1 });
  expect(await replayQuery('', between)).toMatchObject({ ids: [], erased: 0 });
  expect(await replayQuery('', await head())).toMatchObject({ ids: ['again'], erased: 0 });
});

test('a query needs the permissions to search and to read', async () => {
  await create({ type: 'token', id: 'one', data: 'a' });
  const key = await service.application([rule('/', 'reveal', ['token:search', 'token:use'])]);
  await expect(replayQuery('', await head(), { key })).rejects.toThrow('the application does not hold token:read');
});

test('a query by value that finds nothing in any step is in the access log', async () => {
  await create({ type: 'social_security_number', id: 'ssn', data: '123-45-6789' });
  for (let count = 0; count < 501; count += 1) await create({ type: 'token', data: 'x' });
  const then = await head();
  expect((await replayQuery('data:6789', then)).ids).toEqual(['ssn']);
  expect((await replayQuery('data:1111 OR data:2222', then)).ids).toEqual([]);
  const { body } = await service.call('GET', '/logs?size=100', undefined, { key: service.managementKey });
  const messages = (body['data'] as JsonObject[]).map(({ message }) => String(message));
  expect(messages.filter((message) => message.includes('found nothing'))).toEqual([
    'search by value: 2 of 2 values found nothing',
  ]);
});

test('another tenant sees nothing, and every token that is shown is recorded', async () => {
  await create({ type: 'token', id: 'mine', data: 'a' });
  const then = await head();
  const other = await service.otherTenant();
  await expect(replay('mine', then, { key: other })).rejects.toThrow('the token did not exist at that moment');
  expect(await replayQuery('', then, { key: other })).toMatchObject({ ids: [], erased: 0 });
  await replay('mine', then, { reveal: true });
  const { body } = await service.call('GET', '/logs?operation=reveal', undefined, { key: service.managementKey });
  expect(body['pagination']).toMatchObject({ total_items: 1 });
});

test('a token that changes or ends while it is replayed does not count as lost', async () => {
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key must belong to an application');
  const { names } = await tenantKeysOf(service.vault, service.tenantId);
  const changes = {
    replaced: () => update('replaced', { data: 'b' }),
    deleted: () => remove('deleted'),
  };
  for (const [id, change] of Object.entries(changes)) {
    await create({ type: 'token', id, data: 'a' });
    const asOf = { by: 'position', position: Number(await head()), time: service.clock.now() } as const;
    let reads = 0;
    // The replay reads the earlier state first, and the present state second.
    const log: typeof service.vault.log = {
      ...service.vault.log,
      async readFrom(...asked) {
        const events = await service.vault.log.readFrom(...asked);
        reads += 1;
        if (reads === 2) await change();
        return events;
      },
    };
    const replayed = await replayToken({ ...service.vault, log }, { caller }, tokenStream(names, id), {
      asOf,
      reveal: true,
    });
    expect(replayed).toMatchObject({ kind: 'erased' });
  }
});

test.each([
  ['999999999', 'is after the end of the log'],
  ['0', 'from 1'],
  ['2999-01-01', 'in the future'],
  ['yesterday', 'specify a position'],
])('a time %s is rejected with an explanation', async (asOf, text) => {
  await create({ type: 'token', id: 'one', data: 'a' });
  await expect(replay('one', asOf)).rejects.toThrow(text);
  await expect(replayQuery('', asOf)).rejects.toThrow(text);
});

test('the last moments that can be replayed are the end of the log and the present', async () => {
  await create({ type: 'token', id: 'one', data: 'a' });
  const [end, now] = [Number(await head()), service.clock.now()];
  for (const asOf of [`${end}`, new Date(now).toISOString()]) {
    expect(await replay('one', asOf)).toMatchObject({ id: 'one' });
  }
  await expect(replay('one', `${end + 1}`)).rejects.toThrow('is after the end of the log');
  await expect(replay('one', new Date(now + 1).toISOString())).rejects.toThrow('in the future');
});

test('a token’s history shows which values are erased', async () => {
  await create({ type: 'token', id: 'one', data: 'a' });
  await update('one', { data: 'b' });
  const seen = async (key: string) => (await ask('audit-history', { id: 'one', key }))['data'] as JsonObject[];
  const brief = (entries: readonly JsonObject[]) => entries.map(({ type, values }) => [type, values]);
  expect(brief(await seen(service.key))).toEqual([
    ['token.updated', 'kept'],
    ['token.created', 'erased'],
  ]);
  await remove('one');
  expect(brief(await seen(service.managementKey))).toEqual([
    ['token.deleted', undefined],
    ['token.updated', 'erased'],
    ['token.created', 'erased'],
  ]);
  await expect(ask('audit-history', { id: 'none' })).rejects.toThrow('no such token');
});
