import { createPublicKey, verify } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keyName } from '#src/audit/make-checkpoint.js';
import {
  type Checkpoint,
  checkpointHash,
  checkpointStream,
  readCheckpointEvent,
  signedBytes,
} from '#src/events/audit/checkpoint.js';
import { endsCommit, linkAfter, noLink } from '#src/events/commit.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { anEntry } from '../contract/access-log.js';
import { rootOf } from '../events/audit/proof-paths.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';

const anHour = 3_600_000;
let service: TestService;
let lines: string[];
let isBroken: boolean;

beforeEach(async () => {
  lines = [];
  isBroken = false;
  service = await startTestService({
    anchor: {
      async deliver(line) {
        if (isBroken) throw new StoreUnavailable('audit anchor', 'broken');
        lines.push(line);
      },
    },
  });
});

afterEach(() => service.close());

const create = async () =>
  expect((await service.call('POST', '/tokens', { type: 'token', data: 'x' })).status).toBe(201);
const run = () => service.service.checkpointer.run();

async function stored(): Promise<readonly Checkpoint[]> {
  const events = await service.vault.log.readNewest(checkpointStream, null, 100);
  return [...events].reverse().map(readCheckpointEvent);
}

/** Returns the last event of each commit in the log. */
async function commits() {
  return (await service.vault.log.readAll(0, 1_000_000)).filter(endsCommit);
}

/** Computes the last link and the Merkle root over the first `count` commits, without using any stored checkpoint. */
async function signedOver(count: number): Promise<{ readonly hash: string; readonly root: string }> {
  const leaves = (await commits()).slice(0, count).map(({ leaf }) => leaf);
  const hash = leaves.reduce<Uint8Array>(linkAfter, noLink);
  return { hash: Buffer.from(hash).toString('hex'), root: Buffer.from(rootOf(leaves)).toString('hex') };
}

test('a checkpoint signs the chain over the log and the ends of the access log’s chains, and names the previous checkpoint', async () => {
  await create();
  await run();
  service.clock.advance(anHour);
  await create();
  await service.vault.recorder.now([]);
  await run();
  const [first, second] = await stored();
  if (first === undefined || second === undefined) throw new Error('there are two checkpoints');
  const { publicKey } = await service.vault.keys.signingKey();
  for (const checkpoint of [first, second]) {
    const { signature, count, hash, root, position, signed_by } = checkpoint;
    const isSigned = verify(
      null,
      signedBytes(checkpointHash(checkpoint)),
      createPublicKey(publicKey),
      Buffer.from(signature, 'base64'),
    );
    expect(isSigned).toBe(true);
    expect(signed_by).toBe(keyName(publicKey));
    expect({ hash, root }).toEqual(await signedOver(count));
    const last = (await commits())[count - 1];
    expect(position).toBe(last?.position);
  }
  expect([first.number, first.previous]).toEqual([1, null]);
  expect([second.number, second.previous]).toEqual([2, checkpointHash(first)]);
  const [chain] = await service.vault.accessLog.chains();
  const newest = (await service.vault.accessLog.batches(chain ?? '', 0, 1_000)).at(-1);
  const end = { chain, sequence: newest?.sequence, hash: Buffer.from(newest?.hash ?? []).toString('hex') };
  expect(second.access).toEqual([end]);
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    [first, second].map((one) => ({ strongroom_checkpoint: 2, ...one })),
  );
});

test('a checkpoint is signed at the start of each hour, even without new events, and none is signed in between', async () => {
  await run();
  await create();
  await run();
  expect(await stored()).toHaveLength(1);
  service.clock.advance(anHour - 1);
  await run();
  expect(await stored()).toHaveLength(1);
  service.clock.advance(1);
  await run();
  expect(await stored()).toHaveLength(2);
  for (let hours = 0; hours < 3; hours += 1) {
    service.clock.advance(anHour);
    await run();
    await run();
  }
  expect((await stored()).map(({ number, hourly, hours }) => [number, hourly, hours])).toEqual(
    [1, 2, 3, 4, 5].map((number) => [number, number, number]),
  );
});

test('a checkpoint signed for another reason does not replace an hourly one', async () => {
  await run();
  await create();
  await service.service.checkpointer.run('grown');
  service.clock.advance(anHour);
  await run();
  expect((await stored()).map(({ number, hourly, hours }) => [number, hourly, hours])).toEqual([
    [1, 1, 1],
    [2, 1, 1],
    [3, 3, 2],
  ]);
});

test('the key store records the newest checkpoint with its hash and signature', async () => {
  await create();
  await run();
  service.clock.advance(anHour);
  await run();
  const newest = (await stored()).at(-1);
  if (newest === undefined) throw new Error('there is a checkpoint');
  const { number, signature } = newest;
  const { checkpoint, link } = await service.vault.keys.logMemory();
  expect(checkpoint).toEqual({ number, hash: checkpointHash(newest), signature });
  expect(link?.position).toBeGreaterThanOrEqual(newest.position);
});

test('a checkpoint is signed even if the only requests since the last one were reads', async () => {
  const { body } = await service.call('POST', '/tokens', { type: 'token', data: 'x' });
  await service.vault.recorder.now([]);
  await run();
  service.clock.advance(anHour);
  await service.call('GET', `/tokens/${body['id']}`);
  await service.vault.recorder.now([]);
  await run();
  const [, second] = await stored();
  expect(second?.access).toHaveLength(1);
});

test('while the file of the current month is damaged, the log is signed; after the repair, the access log is too', async (context) => {
  embeddedOnly(context, 'a cluster has no month files');
  await create();
  await service.vault.recorder.now([]);
  await run();
  await create();
  await service.vault.recorder.now([]);
  const { dataDir, rootKey, clock } = service;
  await service.stop();
  const [name] = readdirSync(dataDir).filter((each) => /^access-.*\.db$/.test(each));
  const path = join(dataDir, String(name));
  const intact = readFileSync(path);
  writeFileSync(path, 'not a database'.repeat(1_000));
  service = await startTestService({ dataDir, rootKey, clock });
  const before = (await stored()).length;
  clock.advance(anHour);
  await run();
  expect((await stored()).slice(before).map(({ access }) => access)).toEqual([[]]);
  const found = service.errors.map((error) => (error instanceof StoreUnavailable ? error.found?.says : error));
  expect(new Set(found)).toEqual(new Set([`${name} is damaged`]));
  await service.stop();
  writeFileSync(path, intact);
  service = await startTestService({ dataDir, rootKey, clock });
  clock.advance(anHour);
  await run();
  expect((await stored()).at(-1)?.access).toHaveLength(1);
});

test('an entry that is stored in the file of the previous month after that month’s last checkpoint is signed too', async () => {
  const february = Date.UTC(2026, 1, 1);
  service.clock.advance(february + 1_000 - service.clock.now());
  await run();
  await service.vault.accessLog.record([anEntry({ time: february - 1 })]);
  service.clock.advance(anHour);
  await run();
  expect((await stored()).at(-1)?.access).toHaveLength(1);
});

test('a checkpoint is signed immediately after 10,000 events', async () => {
  await run();
  const { log, random } = service.vault;
  const event = () => ({
    id: random.uuid(),
    type: 'test.happened',
    version: 1,
    tenantId: '',
    actorId: 'test',
    time: 0,
    cmd: null,
    trace: null,
    clear: {},
    sealed: { content: null, cvc: null },
  });
  const append = async (stream: string, count: number) => {
    await log.append(stream, -1, Array.from({ length: count }, event));
  };
  for (let first = 0; first < 500; first += 25) {
    const parts = Array.from({ length: 25 }, (_, part) => first + part);
    await Promise.all(parts.map((part) => append(`test-${part}`, part === 499 ? 19 : 20)));
  }
  await run();
  expect(await stored()).toHaveLength(1);
  await append('test-last', 1);
  await run();
  expect((await stored()).map(({ count }) => count)).toHaveLength(2);
});

test('checkpoints that the anchor did not accept are counted, and are delivered in order later', async () => {
  await create();
  await run();
  isBroken = true;
  for (let hours = 0; hours < 2; hours += 1) {
    service.clock.advance(anHour);
    await create();
    await run();
  }
  expect(lines).toHaveLength(1);
  const { text } = await service.service.metrics.render(await service.service.state());
  expect(text).toMatch(/^strongroom_audit_anchor_failures_total [1-9]/m);
  isBroken = false;
  await service.service.checkpointer.run('grown');
  expect(lines.map((line) => JSON.parse(line).number)).toEqual([1, 2, 3]);
});

test('two processes that sign at the same moment create one checkpoint', async () => {
  await create();
  await Promise.all([run(), run(), run()]);
  const checkpoints = await stored();
  expect(checkpoints.map(({ number }) => number)).toEqual([1]);
});

test('a service that stops signs the newest events, or signs nothing if there are no new events', async () => {
  await create();
  await service.service.checkpointer.stop();
  expect(await stored()).toEqual([]);
  service.service.checkpointer.start();
  await service.service.checkpointer.stop();
  const count = (await stored()).length;
  await create();
  service.service.checkpointer.start();
  await service.service.checkpointer.stop();
  expect(await stored()).toHaveLength(count + 1);
});

test('every reader of the log can skip a checkpoint', async () => {
  const { body } = await service.call('POST', '/tokens', { type: 'token', data: 'x' });
  await run();
  expect((await service.call('DELETE', `/tokens/${body['id']}`)).status).toBe(204);
  service.clock.advance(2 * anHour);
  await service.service.sweep.run();
  await create();
  const logs = await service.call('GET', '/logs', undefined, { key: service.managementKey });
  expect(logs.status).toBe(200);
  expect(service.errors).toEqual([]);
});
