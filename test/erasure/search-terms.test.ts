import { beforeEach, expect, test, vi } from 'vitest';
import { openVault } from '../rebuild/support.js';
import { embeddedOnly } from '../support/profile.js';
import { termsIn } from '../support/stored-postings.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { filesOf } from './files.js';

beforeEach((context) => embeddedOnly(context, 'it looks into the files of SQLite'));

/** Returns the files that contain any of these terms, either raw, or in hex as the journal contains them. */
function standsInFiles(dataDir: string, terms: readonly Buffer[]): string[] {
  const forms = terms.flatMap((term) => [term, Buffer.from(term.toString('hex'))]);
  return filesOf(dataDir)
    .filter(({ content }) => forms.some((form) => content.includes(form)))
    .map(({ name }) => name);
}

/** Returns the terms in the rows of all live tokens. */
function termsInRows({ dataDir }: TestService): Set<string> {
  const vault = openVault(dataDir);
  try {
    const packed = vault.prepare('SELECT terms FROM token_rows_1 WHERE terms IS NOT NULL').pluck().all() as Buffer[];
    return new Set(packed.flatMap(termsIn));
  } finally {
    vault.close();
  }
}

/** Removes terms in every possible way. Returns the terms that are no longer part of any live token. */
async function removeSome(service: TestService): Promise<Buffer[]> {
  const { call, clock } = service;
  const expires_at = new Date(clock.now() + 1_000).toISOString();
  const create = (i: number) =>
    call('POST', '/tokens', {
      id: `t-${i}`,
      type: 'token',
      data: `data of ${i}`,
      metadata: { number: `${i}`, group: `${i % 3}` },
      ...(i % 10 === 0 ? { expires_at } : {}),
    });
  await Promise.all(Array.from({ length: 240 }, (_, i) => create(i)));
  const before = termsInRows(service);
  for (let i = 1; i < 240; i += 10) expect((await call('DELETE', `/tokens/t-${i}`)).status).toBe(204);
  for (let i = 2; i < 240; i += 10) {
    expect((await call('PATCH', `/tokens/t-${i}`, { metadata: { number: `other ${i}` } })).status).toBe(200);
  }
  clock.advance(1_000);
  await service.service.sweep.run();
  const after = termsInRows(service);
  const gone = [...before].filter((term) => !after.has(term));
  // Each removed token had at least two terms: one for its id and one for its metadata.
  expect(gone.length).toBeGreaterThan(100);
  return gone.map((term) => Buffer.from(term, 'hex'));
}

/**
 * Threat: an attacker obtains the files after a deletion, and finds out what the deleted token had in common with other
 * tokens.
 */
test('after one minute, no file contains the search terms of deleted, updated or expired tokens', async () => {
  const service = await startTestService();
  const gone = await removeSome(service);
  expect(standsInFiles(service.dataDir, gone)).not.toEqual([]);
  await vi.waitFor(() => expect(standsInFiles(service.dataDir, gone)).toEqual([]), {
    timeout: 60_000,
    interval: 2_000,
  });
  const { body } = await service.call('POST', '/tokens/search', { query: 'metadata.number:"other 12"' });
  expect(body['pagination']).toMatchObject({ total_items: 1 });
  expect(service.errors).toEqual([]);
  await service.close();
});

test('when a service stops, it immediately removes deleted search terms from all files', async () => {
  const service = await startTestService();
  const gone = await removeSome(service);
  await service.stop();
  expect(standsInFiles(service.dataDir, gone)).toEqual([]);
  const again = await startTestService({ dataDir: service.dataDir, rootKey: service.rootKey });
  const { body } = await again.call('POST', '/tokens/search', { query: 'type:token', size: 1 }, { key: service.key });
  expect(body['pagination']).toMatchObject({ total_items: 240 - 24 - 24 });
  await again.close();
});
