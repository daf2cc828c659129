import { expect, test, vi } from 'vitest';
import { expectContinuity } from '#src/audit/continuity.js';
import { wholePages } from '#src/audit/proven-chain.js';
import { checkLogCopy } from '#src/compose/backup/check-copies.js';
import type { StoredEvent } from '#src/events/commit.js';
import { logIdentity } from '#src/vault/open-log.js';
import { copyOf } from '../support/process.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService } from '../support/test-service.js';

const dataBytes = 400 * 1024;
const tokens = 20;
const pageBytesMax = 4 * 1024 * 1024;

async function serviceWithLargeTokens() {
  const service = await startTestService();
  for (let number = 0; number < tokens; number += 1) {
    const body = { type: 'token', data: 'x'.repeat(dataBytes) };
    expect((await service.call('POST', '/tokens', body)).status).toBe(201);
  }
  return service;
}

const bytesOf = (page: readonly Pick<StoredEvent, 'sealed'>[]) =>
  page.reduce((bytes, { sealed }) => bytes + (sealed.content?.length ?? 0), 0);

test('the service verifies large events in pages of at most 4 MiB, so that other requests run between them', async () => {
  const service = await serviceWithLargeTokens();
  const { vault } = service;
  const pages: number[] = [];
  const readAll: typeof vault.log.readAll = async (after, limit) => {
    const page = await vault.log.readAll(after, limit);
    pages.push(bytesOf(page));
    return page;
  };
  await expect(expectContinuity(vault, wholePages({ readAll }))).resolves.toBeUndefined();
  expect(pages.reduce((all, bytes) => all + bytes, 0)).toBeGreaterThan(tokens * dataBytes);
  expect(Math.max(...pages)).toBeLessThanOrEqual(pageBytesMax);
  await service.close();
});

test('a backup verifies its copy of the log in pages of at most 4 MiB, and can be stopped after each', async (context) => {
  embeddedOnly(context, 'a backup of a cluster contains no log');
  const service = await serviceWithLargeTokens();
  const { publicKey } = await service.vault.keys.signingKey();
  const logId = (await logIdentity(service.vault.storedLog))?.logId ?? null;
  const events = (await service.vault.log.readClear(0, 1_000)).length;
  const folder = copyOf(service.dataDir);
  await service.close();
  const { signal } = new AbortController();
  const afterPage = vi.spyOn(signal, 'throwIfAborted');
  expect(await checkLogCopy(folder, { publicKey, logId }, () => undefined, signal)).toBeNull();
  const eventsPerPage = Math.floor(pageBytesMax / (512 * 1024));
  expect(afterPage.mock.calls.length).toBe(Math.ceil(events / eventsPerPage));
});
