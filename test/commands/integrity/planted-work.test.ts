import { randomUUID } from 'node:crypto';
import { type Document, MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keyedHash } from '#src/events/sealing/keyed-hash.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { withClaimMac } from '#src/views/row-mac.js';
import { anEvent } from '../../contract/support.js';
import { profile } from '../../support/profile.js';
import { startTestService, type TestService } from '../../support/test-service.js';

type Row = Document & { _id: string };

const longAgo = new Date(0);
const hourMs = 3_600_000;

/**
 * Before the cluster profile appends events, it records the work in MongoDB: claims, fingerprints and batches. An
 * attacker who can write to the rows can change these records. A process then completes or rolls back the work that the
 * attacker changed.
 */
describe.runIf(profile === 'cluster')('an attacker who can write to the recorded work', () => {
  let service: TestService;
  let client: MongoClient;
  beforeEach(async () => {
    service = await startTestService();
    client = await MongoClient.connect(
      process.env['STRONGROOM_TEST_MONGODB_URL'] ?? 'mongodb://127.0.0.1:27117/?replicaSet=rs0',
      { promoteBuffers: true },
    );
  });
  afterEach(async () => {
    await client.close();
    await service.close();
  });

  const rows = (name: string) => client.db(service.database ?? '').collection<Row>(name);
  const options = () => ({ headers: { 'service-idempotency-key': randomUUID() } });
  const create = (data: string, more: object = {}, call = options()) =>
    service.call('POST', '/tokens', { type: 'token', data, ...more }, call);
  const status = async (id: unknown) => (await service.call('GET', `/tokens/${id}`)).status;

  async function streamOf(id: unknown): Promise<string> {
    const keys = await service.vault.keys.tenantKeys(service.tenantId);
    if (keys === null) throw new Error('the tenant has no keys');
    return tokenStream(keys.names, String(id));
  }

  async function claimOf(stream: string): Promise<Row> {
    const claim = await rows('claims').findOne({ 'result.tokens.stream': stream });
    if (claim === null) throw new Error('there is no such claim');
    return claim;
  }

  async function change(collection: string, _id: string, fields: object): Promise<void> {
    const { modifiedCount } = await rows(collection).updateOne({ _id }, { $set: fields });
    expect(modifiedCount).toBe(1);
  }

  test('cannot make the vault roll back a finished batch, which would delete its tokens and their keys', async () => {
    const call = options();
    const body = [
      { type: 'token', data: 'one' },
      { type: 'token', data: 'two' },
    ];
    const send = () => service.call('POST', '/tokenize', body, call);
    const made = await send();
    expect(made.status, made.text).toBe(200);
    const ids = (JSON.parse(made.text) as readonly { readonly id: string }[]).map(({ id }) => id);
    const claim = await claimOf(await streamOf(ids[0]));
    const batch = claim['work'].id as string;
    for (const state of ['open', 'undone']) {
      await change('batches', batch, { state, openedAt: longAgo });
      await change('claims', claim._id, { state: 'open', openedAt: longAgo });
      const repeated = await send();
      expect(repeated.body, repeated.text).toEqual(made.body);
      for (const id of ids) {
        expect(await status(id)).toBe(200);
        // If the token had been deleted and created again, its stream would contain more than one event.
        expect(await service.vault.log.readStream(await streamOf(id))).toHaveLength(1);
      }
    }
  });

  test('and removes batches makes their retries fail, but every token remains', async () => {
    const call = options();
    const send = (given = call) => service.call('POST', '/tokenize', ['one', 'two'], given);
    const made = await send();
    await rows('batches').deleteMany({});
    expect(await send()).toMatchObject({ status: 500, body: { code: 'row_forged' } });
    for (const id of JSON.parse(made.text) as readonly string[]) expect(await status(id)).toBe(200);
    expect((await send(options())).status, 'with another idempotency key').toBe(200);
    await rows('claims').deleteMany({});
    expect((await send()).status, 'once the claim is deleted').toBe(200);
  });

  test('cannot plant a batch that names a token from another request', async () => {
    const victim = await create('victim');
    const stream = await streamOf(victim.body['id']);
    const { intent } = (await claimOf(stream))['work'];
    const neverMade = { ...intent, stream: `token-${'0'.repeat(64)}`, eventIds: [randomUUID()] };
    const planted = { state: 'open', openedAt: longAgo, intents: [intent, neverMade], mac: Buffer.alloc(32) };
    await rows('batches').insertOne({ _id: 'planted', ...planted });
    const call = options();
    const own = await create('own', {}, call);
    const claim = await claimOf(await streamOf(own.body['id']));
    await change('claims', claim._id, { state: 'open', openedAt: longAgo, work: { of: 'batch', id: 'planted' } });
    const repeated = await create('own', {}, call);
    expect(repeated).toMatchObject({ status: 500, body: { code: 'row_forged' } });
    expect(await status(victim.body['id'])).toBe(200);
    expect(await service.vault.log.readStream(neverMade.stream)).toEqual([]);
  });

  test('cannot make the vault roll back a token, or append to a stream, by changing a fingerprint’s claim', async () => {
    const victim = await create('victim');
    const { intent } = (await claimOf(await streamOf(victim.body['id'])))['work'];
    const neverMade = { ...intent, stream: `token-${'0'.repeat(64)}`, eventIds: [randomUUID()] };
    await rows('batches').insertOne({
      _id: 'planted',
      state: 'open',
      openedAt: longAgo,
      intents: [intent, neverMade],
      mac: Buffer.alloc(32),
    });
    const first = await create('shared', { deduplicate_token: true });
    const [claim] = await rows('fingerprint_claims').find().toArray();
    if (claim === undefined) throw new Error('there is no claim of a fingerprint');
    expect((await service.call('DELETE', `/tokens/${first.body['id']}`)).status).toBe(204);
    for (const fields of [{ batch: 'planted' }, { batch: null, intent: neverMade }]) {
      await rows('fingerprint_claims').replaceOne({ _id: claim._id }, { ...claim, ...fields }, { upsert: true });
      const again = await create('shared', { deduplicate_token: true });
      expect(again.status, again.text).toBe(201);
      expect(await status(victim.body['id'])).toBe(200);
      expect(await service.vault.log.readStream(neverMade.stream)).toEqual([]);
      expect((await service.call('DELETE', `/tokens/${again.body['id']}`)).status).toBe(204);
    }
  });

  test('cannot make a claim look done if its command died before the append', async () => {
    const { vault } = service;
    const created = await create('value');
    const stream = await streamOf(created.body['id']);
    const keys = await vault.keys.tenantKeys(service.tenantId);
    if (keys === null) throw new Error('the tenant has no keys');
    const cmd = keyedHash(keys.claims, 'idempotency', randomUUID());
    expect(await vault.claims.begin(cmd, 0)).toEqual({ state: 'fresh' });
    const result = { tokens: [{ stream, createdRevision: 0 }] };
    const claim = withClaimMac(vault.integrity.rows, { cmd, result, time: vault.clock.now() });
    // The store rejects this event because it is too old. The command therefore fails after it has recorded its work,
    // but before the append.
    const event = anEvent({ type: 'token.updated', tenantId: service.tenantId, time: vault.clock.now() - hourMs });
    const write = { stream, expectedRevision: 0, events: [event], row: null, distinct: null };
    await expect(vault.work.commit({ writes: [write], claim })).rejects.toThrow('event log: stopped_too_long');
    await vault.claims.release(cmd);
    await change('claims', cmd, { state: 'done' });
    await expect(vault.claims.begin(cmd, 0)).rejects.toThrow('the row of claim');
    await change('claims', cmd, { work: { of: 'nothing' } });
    await expect(vault.claims.begin(cmd, 0)).rejects.toThrow('the row of claim');
    expect(await vault.log.readStream(stream)).toHaveLength(1);
  });

  test('cannot assign one request’s work to another request’s claim', async () => {
    const [call, other] = [options(), await create('other')];
    const own = await create('own', {}, call);
    const claim = await claimOf(await streamOf(own.body['id']));
    const { work, workMac } = await claimOf(await streamOf(other.body['id']));
    await change('claims', claim._id, { work, workMac: workMac ?? Buffer.alloc(32) });
    expect(await create('own', {}, call)).toMatchObject({ status: 500, body: { code: 'row_forged' } });
  });
});
