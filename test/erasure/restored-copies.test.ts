import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openAuthenticStores } from '#src/compose/embedded/embedded-stores.js';
import { openCiphertext } from '#src/events/sealing/ciphertext.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { expectNowhere, isSomewhere } from './files.js';
import { aCard, copyOf, create, deletedWithLivingKeys, keyIdsOf, streamOf, wrappedKeysOf } from './support.js';

let service: TestService;
const folders: string[] = [];
beforeEach(async () => {
  service = await startTestService();
});
afterEach(async () => {
  await service.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function restart(dataDir = service.dataDir, acceptsOlderLog = false): Promise<void> {
  const { rootKey } = service;
  service = await startTestService({ dataDir, rootKey, acceptsOlderLog });
}

async function copy(names?: readonly string[]): Promise<string> {
  const folder = await copyOf(service.dataDir, names);
  folders.push(folder);
  return folder;
}

test('with an old vault.db and the current keys.db, no key opens the deleted value', async () => {
  const id = await create(service, aCard());
  const survivor = await create(service, { type: 'token', data: 'survivor' });
  const { key, tenantId, rootKey, clock } = service;
  const stream = await streamOf(service, id);
  const { content, cvc } = await keyIdsOf(service, id);
  await service.stop();
  const old = await copy(['vault.db']);
  await restart();
  expect((await service.call('DELETE', `/tokens/${id}`, undefined, { key })).status).toBe(204);
  await service.stop();
  const today = service.dataDir;
  execFileSync('cp', [join(today, 'keys.db'), join(old, 'keys.db')]);

  const stores = await openAuthenticStores(old, rootKey, clock, () => undefined);
  const events = await stores.storedLog.readStream(stream);
  expect(events.map(({ type }) => type)).toEqual(['token.created']);
  const living = (await stores.keys.made(0, Number.MAX_SAFE_INTEGER, 100_000)).map(({ keyId }) => keyId);
  expect(living.length).toBeGreaterThan(0);
  const boxes = events.flatMap(({ sealed }) => [sealed.content, sealed.cvc]).filter((box) => box !== null);
  expect(boxes).toHaveLength(2);
  const places = [...content, ...cvc, ...living].flatMap((keyId) =>
    (['content', 'cvc'] as const).map((field) => ({ tenantId, stream, revision: 0, keyId, field })),
  );
  const opens = (with_: Buffer) =>
    boxes.some((box) => places.some((place) => openCiphertext(with_, box, place) !== null));
  for (const keyId of [...living, ...content, ...cvc]) {
    const used = await stores.keys.use(tenantId, keyId, opens);
    expect(used).toEqual(
      living.includes(keyId) ? { state: 'open', value: false, revision: null } : { state: 'destroyed' },
    );
  }
  const subkeys = Object.values((await stores.keys.tenantKeys(tenantId)) ?? {}).filter((value) =>
    Buffer.isBuffer(value),
  );
  expect(subkeys).toHaveLength(5);
  for (const subkey of subkeys) expect(opens(subkey)).toBe(false);
  expect(opens(rootKey)).toBe(false);
  await stores.close();

  await expect(restart(old)).rejects.toThrow('the log is behind its keys');
  await restart(old, true);
  const read = await service.call('GET', `/tokens/${id}`, undefined, { key });
  expect([read.status, read.body['code']], read.text).toEqual([500, 'key_lost']);
  expect(read.text).not.toContain('42424242');
  expect((await service.call('GET', `/tokens/${survivor}`, undefined, { key })).body).toMatchObject({
    data: 'survivor',
  });
  folders.push(today);
});

test('the vault can be used with an old vault.db, and the keys of later deletions are destroyed again at the next start', async () => {
  await service.stop();
  const old = await copy(['vault.db']);
  await restart();
  for (let count = 0; count < 5; count += 1) await create(service, aCard());
  await service.stop();
  await restart();
  await service.stop();
  const today = service.dataDir;
  execFileSync('cp', [join(today, 'keys.db'), join(old, 'keys.db')]);
  folders.push(today);

  await restart(old, true);
  const { keys } = await deletedWithLivingKeys(service);
  for (const one of keys) expect(isSomewhere(old, one)).toBe(true);
  await service.stop();
  await restart(old, true);
  expectNowhere(old, keys);
});

test('with an old keys.db and the current vault.db, keys are destroyed again before the service is ready', async () => {
  const id = await create(service, aCard());
  const changed = await create(service, aCard());
  const purged = await create(service, aCard());
  const { key, tenantId } = service;
  const wrapped = await wrappedKeysOf(service, id);
  const replaced = await wrappedKeysOf(service, changed);
  const ofPurged = await wrappedKeysOf(service, purged);
  const ended = [...wrapped.content, ...wrapped.cvc, ...replaced.content, ...ofPurged.cvc];
  await service.stop();
  const old = await copy(['keys.db']);
  await restart();
  expect((await service.call('DELETE', `/tokens/${id}`, undefined, { key })).status).toBe(204);
  const data = { number: '5555555555554444' };
  expect((await service.call('PATCH', `/tokens/${changed}`, { data }, { key })).status).toBe(200);
  expect((await service.call('DELETE', `/tokens/${purged}/cvc`, undefined, { key })).status).toBe(204);
  expectNowhere(service.dataDir, ended);
  await service.stop();

  execFileSync('cp', [join(old, 'keys.db'), join(service.dataDir, 'keys.db')]);
  for (const one of ended) expect(isSomewhere(service.dataDir, one)).toBe(true);
  await restart();
  expectNowhere(service.dataDir, ended);
  for (const { id: keyId } of ended) {
    expect(await service.vault.keys.use(tenantId, keyId, () => 0)).toEqual({ state: 'destroyed' });
  }
  expect((await service.call('GET', `/tokens/${id}`, undefined, { key })).status).toBe(404);
  expect((await service.call('DELETE', `/tokens/${id}`, undefined, { key })).status).toBe(404);
});
