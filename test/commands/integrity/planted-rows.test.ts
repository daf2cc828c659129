import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { packStream } from '#src/adapters/sqlite/database/packed-text.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { checkDirectory } from '#src/audit/check-rows.js';
import type { JsonObject } from '#src/domain/json.js';
import { apiKeyHash, newApiKey } from '#src/domain/tenancy/api-key.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { readToken } from '#src/queries/read-token.js';
import type { ClaimResult } from '#src/views/finished-claim.js';
import { rebuildTokens } from '../../rebuild/support.js';
import { profile } from '../../support/profile.js';
import { type Answer, rule, startTestService, type TestService } from '../../support/test-service.js';
import { type RowsAttacker, rowsAttacker } from './rows-attacker.js';

let service: TestService;
let attacker: RowsAttacker;
beforeEach(async () => {
  service = await startTestService();
  attacker = await rowsAttacker(service);
});
afterEach(async () => {
  await attacker.close();
  await service.close();
});

const secret = 'the-plaintext-of-the-token';
const hourMs = 3_600_000;

async function create(body: object): Promise<string> {
  const created = await service.call('POST', '/tokens', body);
  expect(created.status, created.text).toBe(201);
  return String(created.body['id']);
}

function aToken(fields: object = {}): Promise<string> {
  return create({ type: 'token', data: secret, ...fields });
}

async function patch(id: string, body: object): Promise<void> {
  const { status, text } = await service.call('PATCH', `/tokens/${id}`, body);
  expect(status, text).toBe(200);
}

/** Returns the SQL literal of a stream's stored name. */
function blobOf(stream: string): string {
  return `x'${packStream(stream).toString('hex')}'`;
}

async function streamOf(id: string): Promise<string> {
  const keys = await service.vault.keys.tenantKeys(service.tenantId);
  if (keys === null) throw new Error('the tenant has no keys');
  return tokenStream(keys.names, id);
}

async function takeToken(id: string) {
  return attacker.takeToken(await streamOf(id));
}

function get(id: string, key?: string): Promise<Answer> {
  return service.call('GET', `/tokens/${id}`, undefined, key === undefined ? {} : { key });
}

async function manage(method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, body?: object): Promise<JsonObject> {
  const answer = await service.call(method, url, body, { key: service.managementKey });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

/** Creates an application with these rules, as an administrator would. */
async function application(rules: readonly object[]): Promise<{ readonly id: string; readonly key: string }> {
  const body = await manage('POST', '/applications', { name: 'attacked', type: 'private', rules });
  return { id: String(body['id']), key: String(body['key']) };
}

/** Advances the clock until the cached caller expires, then sends a request and returns the response. */
async function afterASecond(send: () => Promise<Answer>): Promise<Answer> {
  service.clock.advance(1_001);
  return send();
}

/** Checks that the response contains no plaintext data, and that the vault reports the problem to operators. */
async function expectRefused(answer: Answer, named: string): Promise<void> {
  expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
  expect(answer.text).not.toContain(secret);
  const { reasons } = await service.service.state();
  expect(reasons.join()).toContain(named);
  expect((await service.call('GET', '/health/ready', undefined, { key: null })).status).toBe(503);
}

/**
 * Checks that the vault never uses an older row. The embedded profile rejects the row. In the cluster profile, a row
 * can lag behind the log, so the vault writes the newest row from the log and uses that row.
 */
async function expectNewest(answer: Answer, named: string, newest: Partial<Answer> & { readonly shows?: object }) {
  if (profile === 'embedded') return expectRefused(answer, named);
  const { shows = {}, ...rest } = newest;
  expect(answer, answer.text).toMatchObject(rest);
  expect(answer.body).toMatchObject(shows);
  expect(answer.text).not.toContain(secret);
}

const everything = [rule('/', 'reveal', ['token:read', 'token:search'])];

describe('an attacker who can write to the rows', () => {
  test('cannot use the hash of its own key to get access', async () => {
    const id = await aToken();
    const { id: applicationId } = await application(everything);

    const key = newApiKey('private', (maxExclusive) => randomInt(maxExclusive));
    await attacker.plantKey(applicationId, randomUUID(), apiKeyHash(key));
    const answer = await get(id, key);
    expect(answer.status).toBe(401);
    await expectRefused(answer, applicationId);
  });

  test('cannot restore rights that were removed from an application', async () => {
    const id = await aToken();
    const { id: applicationId, key } = await application(everything);
    const older = await attacker.takeRecord('application', applicationId);
    expect((await get(id, key)).text).toContain(secret);
    const rules = [rule('/', 'redact', ['token:read'])];
    await manage('PUT', `/applications/${applicationId}`, { name: 'narrowed', rules });
    await older.putBack();
    const answer = await afterASecond(() => get(id, key));
    await expectNewest(answer, applicationId, { status: 200, shows: { id } });
  });

  test('cannot bring a deleted application back', async () => {
    const id = await aToken();
    const { id: applicationId, key } = await application(everything);
    const older = await attacker.takeRecord('application', applicationId);
    await manage('DELETE', `/applications/${applicationId}`);
    await older.putBack();
    const answer = await afterASecond(() => get(id, key));
    await expectNewest(answer, applicationId, { status: 401 });
  });

  test('cannot make a revoked key work again', async () => {
    const id = await aToken();
    const { id: applicationId, key } = await application(everything);
    const older = await attacker.takeRecord('application', applicationId);
    const listed = await manage('GET', `/applications/${applicationId}/keys`);
    const [first] = Object.values(listed).flat() as readonly JsonObject[];
    await manage('POST', `/applications/${applicationId}/keys`);
    await manage('DELETE', `/applications/${applicationId}/keys/${first?.['id']}`);
    await older.putBack();
    await expectNewest(await afterASecond(() => get(id, key)), applicationId, { status: 401 });
  });

  test('cannot change a tenant’s settings with an older row, or with another revision of the row', async () => {
    const older = await attacker.takeRecord('tenant', service.tenantId);
    await manage('PUT', '/tenants/self', { name: 'test', settings: { deduplicate_tokens: 'true' } });
    await older.putBack();
    const read = () => service.call('GET', '/tenants/self', undefined, { key: service.managementKey });
    const settings = { deduplicate_tokens: 'true' };
    await expectNewest(await afterASecond(read), service.tenantId, { status: 200, shows: { settings } });
  });

  test.each([
    { what: 'the row of another application', kind: 'application', how: 'moveRecord' },
    { what: 'the row of the application’s tenant', kind: 'tenant', how: 'moveRecord' },
    { what: 'the sealed document of another application', kind: 'application', how: 'copyDocument' },
    { what: 'the sealed document of the application’s tenant', kind: 'tenant', how: 'copyDocument' },
  ] as const)('cannot replace an application’s row with $what', async ({ kind, how }) => {
    const id = await aToken();
    const wide = await application(everything);
    const narrow = await application([rule('/', 'redact', ['token:read'])]);
    await attacker[how](kind, kind === 'tenant' ? service.tenantId : wide.id, narrow.id);
    const shown = await afterASecond(() =>
      service.call('GET', `/applications/${narrow.id}`, undefined, { key: service.managementKey }),
    );
    expect(shown.status, shown.text).toBeGreaterThanOrEqual(400);
    const answer = await get(id, narrow.key);
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
    expect(answer.text).not.toContain(secret);
    if (how === 'copyDocument') expect((await get(id, wide.key)).text).toContain(secret);
  });

  test('cannot move a tenant’s row to another revision', async () => {
    const id = await aToken();
    await attacker.editRecord('tenant', service.tenantId, { revision: 99 });
    await expectRefused(await afterASecond(() => get(id)), service.tenantId);
  });

  test.each([
    { what: 'expiry', body: { expires_at: '2026-02-01T00:00:00Z' } },
    { what: 'verification code purge time', body: {} },
    { what: 'type', body: {} },
  ])('cannot change a token’s $what', async ({ what, body }) => {
    const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };
    const id = await create({ type: 'card', data, ...body });
    const stream = await streamOf(id);
    await attacker.editToken(stream, (life) => {
      if (what === 'expiry') return { ...life, expiresAt: null };
      if (what === 'type') return { ...life, tokenType: 'token' };
      return { ...life, cvc: life.cvc === null ? null : { ...life.cvc, purgeAt: life.cvc.purgeAt + 10 * hourMs } };
    });
    service.clock.advance(2 * hourMs);
    const answer = await get(id);
    expect(answer.text).not.toContain('4242424242424242');
    expect(answer.text).not.toContain('"123"');
    await expectRefused(answer, stream);
    expect((await service.call('POST', '/tokens/search', { query: `id:${id}` })).status).toBe(500);
  });

  test.each([
    { what: 'expiry was changed', change: { expires_at: '2030-01-01T00:00:00.000+00:00' } },
    { what: 'metadata was changed', change: { metadata: { a: 'b' } } },
  ])('cannot restore a token’s row from before its $what', async ({ change }) => {
    const id = await aToken({ data: 'no-secret' });
    const stream = await streamOf(id);
    const older = await takeToken(id);
    await patch(id, change);
    await older.putBack();
    const found = await service.call('POST', '/tokens/search', { query: `id:${id}` });
    const answer = await get(id);
    if (profile === 'cluster') {
      expect([answer.status, found.status]).toEqual([200, 200]);
      expect(answer.body).toMatchObject(change);
      expect(found.body['data'] ?? found.body['tokens']).toMatchObject([change]);
    } else expect([answer.body['code'], found.body['code']]).toEqual(['row_forged', 'row_forged']);
    if (profile === 'embedded') expect((await service.service.state()).reasons.join()).toContain(stream);
  });

  test('cannot put a token back into a container from which it was moved', async () => {
    const id = await aToken({ containers: ['/open/'] });
    const key = await service.application([rule('/open/', 'reveal', ['token:read', 'token:search', 'token:use'])]);
    const reads = [
      () => get(id, key),
      () => service.call('POST', '/tokens/search', { query: '' }, { key }),
      () => service.call('GET', '/tokens', undefined, { key }),
      () => service.call('POST', '/detokenize', { value: `{{ ${id} }}` }, { key }),
    ];
    for (const read of reads) expect((await read()).text).toContain(secret);
    const older = await takeToken(id);
    await patch(id, { containers: ['/closed/'] });
    for (const read of reads) {
      await older.putBack();
      expect((await read()).text).not.toContain(secret);
    }
  });

  test('cannot use an older row even while the log cannot be read', async () => {
    const id = await aToken({ containers: ['/open/'] });
    const stream = await streamOf(id);
    const older = await takeToken(id);
    await patch(id, { containers: ['/closed/'] });
    await older.putBack();
    const { vault, tenantId } = service;
    const follow = async () => {
      throw new StoreUnavailable('event log', 'down');
    };
    const withoutLog = { ...vault, work: { ...vault.work, follow } };
    await expect(readToken(withoutLog, tenantId, stream)).rejects.toThrow(StoreUnavailable);
  });

  test('cannot restore the row from before a verification code was purged', async () => {
    const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };
    const id = await create({ type: 'card', data });
    const older = await takeToken(id);
    expect((await service.call('DELETE', `/tokens/${id}/cvc`)).status).toBe(204);
    await older.putBack();
    const answer = await get(id);
    await expectNewest(answer, await streamOf(id), { status: 200, shows: { id } });
    expect(answer.text).not.toContain('"123"');
  });

  test('cannot restore data that an update replaced and that the tenant keeps for replay', async () => {
    await manage('PUT', '/tenants/self', { name: 'test', settings: { keep_superseded_data: 'true' } });
    service.clock.advance(1_001);
    const id = await aToken();
    const older = await takeToken(id);
    await patch(id, { data: 'newer' });
    await older.putBack();
    await expectNewest(await get(id), await streamOf(id), { status: 200, shows: { data: 'newer' } });
  });

  test('cannot replace a token with another one of the same tenant or of another tenant', async () => {
    const [one, two] = [await aToken(), await aToken({ data: 'another' })];
    await attacker.editToken(await streamOf(two), (life) => ({ ...life, tenantId: randomUUID() }));
    expect((await get(two)).status).toBe(500);
    expect((await get(one)).status).toBe(200);
  });

  test('cannot make a retried create return a token that another application created', async () => {
    const id = await aToken();
    const key = await service.application([rule('/', 'reveal', ['token:create'])]);
    const options = { key, headers: { 'service-idempotency-key': randomUUID() } };
    const body = { type: 'token', data: 'its own' };
    const created = await service.call('POST', '/tokens', body, options);
    expect(created.status, created.text).toBe(201);
    await attacker.moveClaims(await streamOf(String(created.body['id'])), await streamOf(id));
    const repeated = await service.call('POST', '/tokens', body, options);
    expect(repeated.status, repeated.text).toBeGreaterThanOrEqual(400);
    expect(repeated.text).not.toContain(secret);
  });

  describe('cannot make a retried request with an idempotency key', () => {
    const claimForged = 'the row of claim';

    async function claimed(data: string) {
      const options = { headers: { 'service-idempotency-key': randomUUID() } };
      const send = () => service.call('POST', '/tokens', { type: 'token', data }, options);
      const created = await send();
      expect(created.status, created.text).toBe(201);
      const repeated = await send();
      expect(repeated.body).toEqual(created.body);
      const id = String(created.body['id']);
      return { id, stream: await streamOf(id), send };
    }

    async function expectClaimRefused(answer: Answer): Promise<void> {
      expect(answer.status, answer.text).toBe(500);
      await expectRefused(answer, claimForged);
    }

    test('return another token that the same application created', async () => {
      const [asked, other] = [await claimed('asked'), await claimed(secret)];
      await attacker.moveClaims(asked.stream, other.stream);
      await expectClaimRefused(await asked.send());
      expect((await service.call('POST', '/tokens', { type: 'token', data: 'new' })).status).toBe(201);
    });

    test('return the result of another request', async () => {
      const [asked, other] = [await claimed('asked'), await claimed(secret)];
      await attacker.copyClaim(other.stream, asked.stream);
      await expectClaimRefused(await asked.send());
    });

    test('show a fingerprint, or call the token a duplicate', async () => {
      const flags = [{ carriedContent: 1 }, { deduplicated: true }, { cvcIgnored: true }, { createdRevision: 1 }];
      for (const flag of flags) {
        const { stream, send } = await claimed('asked');
        const edit = (result: ClaimResult) => ({
          ...result,
          tokens: result.tokens.map((one) => ({ ...one, ...flag })),
        });
        await attacker.editClaim(stream, edit);
        await expectClaimRefused(await send());
      }
    });
  });

  test.runIf(profile === 'embedded')(
    'cannot replace the rows with a view that shows one token as another',
    async () => {
      const [asked, other] = [await aToken({ data: 'asked' }), await aToken()];
      const [askedStream, otherStream] = [blobOf(await streamOf(asked)), blobOf(await streamOf(other))];
      const database = pinStatements(join(service.dataDir, 'vault.db'), {});
      const columns = database.pragma('table_info(token_rows_1)') as readonly { readonly name: string }[];
      const rest = columns.map(({ name }) => name).filter((name) => name !== 'stream');
      // SQLite evaluates this column once for WHERE and once for the result, so the two values can differ.
      const either = `CASE abs(random()) % 2 WHEN 0 THEN ${askedStream} ELSE ${otherStream} END AS stream`;
      const from = `FROM rows_behind WHERE stream = ${otherStream}`;
      database.pragma('legacy_alter_table = ON');
      database.exec('ALTER TABLE token_rows_1 RENAME TO rows_behind');
      database.exec(`CREATE VIEW token_rows_1 AS SELECT ${either}, ${rest.join()} ${from}`);
      database.close();
      for (let attempt = 0; attempt < 60; attempt += 1) expect((await get(asked)).text).not.toContain(secret);
    },
  );

  test.runIf(profile === 'embedded')(
    'cannot replace the rows with a view that lists a token of another tenant',
    async () => {
      const listed = await aToken({ data: 'listed' });
      const key = await service.otherTenant();
      const foreign = await service.call('POST', '/tokens', { type: 'token', data: secret }, { key });
      expect(foreign.status, foreign.text).toBe(201);
      const database = pinStatements(join(service.dataDir, 'vault.db'), {});
      const rowOf = database.prepare('SELECT stream, tenant, seq FROM token_rows_1 WHERE seq = ?');
      const seqs = database.prepare('SELECT seq FROM token_rows_1 ORDER BY seq').pluck().all() as readonly number[];
      const [own, other] = seqs
        .slice(-2)
        .map((seq) => rowOf.get(seq) as { tenant: string; seq: number; stream: Buffer });
      expect(own?.stream).toEqual(packStream(await streamOf(listed)));
      const columns = database.pragma('table_info(token_rows_1)') as readonly { readonly name: string }[];
      const rest = columns.map(({ name }) => name).filter((name) => name !== 'seq' && name !== 'tenant');
      const either = `CASE abs(random()) % 2 WHEN 0 THEN '${own?.tenant}' ELSE '${other?.tenant}' END AS tenant`;
      database.pragma('legacy_alter_table = ON');
      database.exec('ALTER TABLE token_rows_1 RENAME TO rows_behind');
      database.exec(
        `CREATE VIEW token_rows_1 AS SELECT ${rest.join()}, ${own?.seq} AS seq, ${either}
       FROM rows_behind WHERE seq = ${other?.seq}`,
      );
      database.close();
      for (let attempt = 0; attempt < 60; attempt += 1) {
        expect((await service.call('GET', '/tokens')).text).not.toContain(secret);
      }
    },
  );

  test.runIf(profile === 'cluster').for([null, 'text', [null]])(
    'cannot make reads of all applications fail with a row whose keys are %j, and a rebuild repairs the row',
    async (keys) => {
      const other = await service.service.authenticate(await service.otherTenant());
      const id = other?.applicationId ?? '';
      await attacker.editRecord('application', id, { keys });
      const found = async () =>
        (await service.vault.directory.check('application')).flatMap(({ record, problem }) =>
          problem === null ? [] : [{ id: record.id, problem }],
        );
      expect(await found()).toEqual([{ id, problem: 'not_authentic' }]);
      await service.service.projections.rebuild('directory', true);
      expect(await found()).toEqual([]);
    },
  );

  test('cannot make a query delete a token that does not match the query', async () => {
    const id = await aToken({ metadata: { keep: 'yes' } });
    const victim = await aToken({ metadata: { keep: 'no' } });
    await attacker.copyTerms(await streamOf(id), await streamOf(victim));
    const answer = await service.call('POST', '/tokens/delete', { query: 'metadata.keep:yes' });
    expect(answer.status, answer.text).toBe(500);
    expect((await get(victim)).status).toBe(200);
  });
});

describe('a service that found a forged row becomes ready again without a restart', () => {
  const ready = async () => (await service.call('GET', '/health/ready', undefined, { key: null })).status;
  const becomesReady = () => expect.poll(ready).toBe(200);

  test('after a rebuild of the tokens', async () => {
    const id = await aToken();
    await attacker.editToken(await streamOf(id), (life) => ({ ...life, tenantId: randomUUID() }));
    await expectRefused(await get(id), await streamOf(id));
    await rebuildTokens(service, true);
    await becomesReady();
    expect((await get(id)).status).toBe(200);
  });

  test('after a rebuild of the directory', async () => {
    const other = await service.otherTenant();
    const { tenantId = '' } = (await service.service.authenticate(other)) ?? {};
    await attacker.editRecord('tenant', tenantId, { revision: 99 });
    const answer = await afterASecond(() => service.call('GET', '/tokens', undefined, { key: other }));
    await expectRefused(answer, tenantId);
    await service.service.projections.rebuild('directory', true);
    await becomesReady();
  });

  test('after a forged claim was removed', async () => {
    const options = { headers: { 'service-idempotency-key': randomUUID() } };
    const send = () => service.call('POST', '/tokens', { type: 'token', data: 'asked' }, options);
    const stream = await streamOf(String((await send()).body['id']));
    await attacker.editClaim(stream, (result) => ({ ...result, tokens: [] }));
    await expectRefused(await send(), 'the row of claim');
    service.clock.advance(40 * 24 * hourMs);
    await service.vault.claims.forget(service.clock.now());
    await becomesReady();
  });
});

describe('a service that found a forged row is still not ready', () => {
  const reasons = async () => (await service.service.state()).reasons.join();

  /** Returns the reasons why the service is not ready, once it has checked every forged row again. */
  async function reasonsAfterCheck(): Promise<string> {
    const key = await service.otherTenant();
    const { tenantId = '' } = (await service.service.authenticate(key)) ?? {};
    const authentic = await attacker.takeRecord('tenant', tenantId);
    await attacker.editRecord('tenant', tenantId, { revision: 99 });
    await expectRefused(await afterASecond(() => service.call('GET', '/tokens', undefined, { key })), tenantId);
    await authentic.putBack();
    // The rows are checked in the order in which they were found.
    await expect.poll(reasons).not.toContain(tenantId);
    return reasons();
  }

  test('after another generation was planted and marked as the one to read', async () => {
    const id = await aToken();
    const stream = await streamOf(id);
    await attacker.editToken(stream, (life) => ({ ...life, tenantId: randomUUID() }));
    await expectRefused(await get(id), stream);
    await attacker.plantGeneration(0, true);
    const read = async () => (await service.vault.generations.inUse()).read;
    await expect.poll(read).toBe(0);
    expect(await reasonsAfterCheck()).toContain(stream);
  });

  test('after a claim was planted before a forged claim', async () => {
    const options = { headers: { 'service-idempotency-key': randomUUID() } };
    const send = () => service.call('POST', '/tokens', { type: 'token', data: 'asked' }, options);
    const stream = await streamOf(String((await send()).body['id']));
    await attacker.editClaim(stream, (result) => ({ ...result, tokens: [] }));
    await expectRefused(await send(), 'the row of claim');
    const [, cmd = ''] = /the row of claim (\S+) is/.exec(await reasons()) ?? [];
    await attacker.plantClaim(`${cmd.slice(0, -1)}!`, cmd);
    expect(await reasonsAfterCheck()).toContain(cmd);
  });

  test('while a store is unavailable, and does not wait for the store for each row', async () => {
    for (const key of [await service.otherTenant(), await service.otherTenant()]) {
      const { tenantId = '' } = (await service.service.authenticate(key)) ?? {};
      await attacker.editRecord('tenant', tenantId, { revision: 99 });
      await expectRefused(await afterASecond(() => service.call('GET', '/tokens', undefined, { key })), tenantId);
    }
    const found = await reasons();
    let reads = 0;
    const get = async () => {
      reads += 1;
      throw new StoreUnavailable('mongodb', 'unreachable');
    };
    Object.assign(service.vault, { directory: { ...service.vault.directory, get } });
    const readsOfChecks = async () => {
      expect(await reasons()).toBe(found);
      return reads;
    };
    await expect.poll(readsOfChecks).toBe(1);
  });

  test('after a forged row of an application was removed', async () => {
    const { id, key } = await application(everything);
    await attacker.editRecord('application', id, { revision: 99 });
    await expectRefused(await get('x', key), id);
    await attacker.removeRecord('application', id);
    expect(await reasonsAfterCheck()).toContain(id);
  });
});

test.each([
  { generation: 7, isRead: false },
  { generation: 7, isRead: true },
  { generation: 0, isRead: true },
])('a planted generation of rows is reported, and a rebuild removes it (%j)', async ({ generation, isRead }) => {
  const id = await aToken();
  await attacker.plantGeneration(generation, isRead);
  const send = () => service.call('POST', '/tokens', { type: 'token', data: secret });
  await expect.poll(send).toMatchObject({ status: 500, body: { code: 'row_forged' } });
  if (!isRead) expect(await get(id)).toMatchObject({ status: 200, body: { data: secret } });
  const { problems } = await checkDirectory(service.vault);
  expect(problems).toEqual([{ row: { of: 'generation', name: `${generation}` }, what: 'not_authentic' }]);
  expect(await rebuildTokens(service)).toMatchObject({ outcome: 'done' });
  expect((await send()).status).toBe(201);
  expect((await get(id)).body).toMatchObject({ data: secret });
  expect((await checkDirectory(service.vault)).problems).toEqual([]);
  await expect.poll(async () => (await service.service.state()).reasons).toEqual([]);
});
