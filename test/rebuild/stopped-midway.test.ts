import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { never } from '#src/adapters/sqlite/database/keys-schema.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { createPlain } from '../http/routes/support.js';
import { manualClock } from '../support/manual-clock.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { endOfRebuild, generous, openVault, rebuildTokens, standsInFiles, storedIn } from './support.js';

const tokens = 250;

async function filled(service: TestService): Promise<string[]> {
  const made = await Promise.all(Array.from({ length: tokens }, () => createPlain(service)));
  return made.map(({ id }) => id);
}

async function listed({ call }: TestService): Promise<number> {
  return ((await call('GET', '/tokens?size=1')).body as { pagination: { total_items: number } }).pagination.total_items;
}

test('a rebuild that is canceled at any moment leaves no row, no posting, no generation and no key', async () => {
  const service = await startTestService();
  await filled(service);
  const { projections } = service.service;
  const ends: string[] = [];
  const before = storedIn(service.dataDir);
  let read = 1;
  for (const turns of [0, 1, 2, 4, 8, 16, 30, 60, 120, 250, 500, 1_000]) {
    await projections.rebuild('tokens', false);
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    const end = await projections.cancel('tokens');
    ends.push(end);
    await endOfRebuild(service);
    const after = storedIn(service.dataDir);
    if (end === 'cancelled') {
      expect(after.generations).toEqual([{ generation: read, state: 'read' }]);
      expect((await projections.status())[0]).toMatchObject({ generation: read, lastRebuild: null });
    } else read = (after.generations[0] as { generation: number }).generation;
    expect(after.keys).toEqual([read]);
    expect(Math.min(...after.index), `the index that is not read after ${turns} turns: ${end}`).toBe(0);
    for (const kind of ['rows', 'postings', 'counts'] as const) {
      expect([...after[kind]].sort(), `${kind} after ${turns} turns: ${end}`).toEqual([...before[kind]].sort());
    }
    expect(await listed(service)).toBe(tokens);
  }
  expect(ends.filter((end) => end === 'cancelled').length, ends.join()).toBeGreaterThan(4);
  expect(await projections.cancel('tokens')).toBe('none');
  expect(service.errors).toEqual([]);
  await service.close();
});

test('the search terms of a canceled or replaced generation are removed from all files', async () => {
  const service = await startTestService();
  await filled(service);
  const vault = openVault(service.dataDir);
  const slotOf = vault.prepare('SELECT slot FROM generations WHERE state = ?').pluck();
  /** Returns the search terms of ten tokens. Each term has 16 bytes. */
  const termsOf = (state: 'read' | 'building'): Buffer[] => {
    const slot = slotOf.get(state) as number | undefined;
    if (slot === undefined) return [];
    const packed = vault.prepare(`SELECT terms FROM token_rows_${slot} WHERE terms IS NOT NULL LIMIT 10`).pluck().all();
    return (packed as Buffer[]).flatMap((terms) =>
      Array.from({ length: terms.length / 16 }, (_, i) => terms.subarray(i * 16, (i + 1) * 16)),
    );
  };
  const { projections } = service.service;
  const cancelMidway = async (): Promise<Buffer[]> => {
    await projections.rebuild('tokens', false);
    let found: Buffer[] = [];
    while (found.length < 50 && (await projections.status())[0]?.rebuild !== null) found = termsOf('building');
    const end = await projections.cancel('tokens');
    await endOfRebuild(service);
    return end === 'cancelled' && found.length >= 50 ? found : [];
  };
  // On a busy machine, a rebuild may end before it can be canceled.
  let cancelled: Buffer[] = [];
  for (let attempt = 0; attempt < 20 && cancelled.length === 0; attempt += 1) cancelled = await cancelMidway();
  expect(cancelled.length).toBeGreaterThan(50);
  const replaced = termsOf('read');
  expect(replaced.length).toBeGreaterThan(50);
  const keys = pinStatements(`${service.dataDir}/keys.db`, { readonly: true });
  const wrapped = keys
    .prepare('SELECT wrapped FROM generation_keys WHERE destroyed_at = ?')
    .pluck()
    .get(never) as Buffer;
  keys.close();
  expect(standsInFiles(service.dataDir, [wrapped])).not.toEqual([]);
  expect(await rebuildTokens(service)).toMatchObject({ outcome: 'done' });
  vault.close();
  expect(standsInFiles(service.dataDir, [...replaced, ...cancelled, wrapped])).toEqual([]);
  await service.close();
});

test('a token that is deleted while two generations are written is in neither of them', async () => {
  const service = await startTestService({ keptMs: 3_600_000 });
  const [id] = await filled(service);
  await service.service.projections.rebuild('tokens', false);
  await vi.waitFor(async () => {
    const [status] = await service.service.projections.status();
    expect(status?.rebuild?.phase).toBe('keeping');
  }, generous);
  expect(storedIn(service.dataDir).rows).toEqual([tokens, tokens]);
  expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
  const vault = openVault(service.dataDir);
  for (const slot of [0, 1]) {
    const gone = vault
      .prepare(`SELECT content_at, terms, seq FROM token_rows_${slot} WHERE removed_at IS NOT NULL`)
      .all();
    expect(gone).toEqual([{ content_at: null, terms: null, seq: null }]);
  }
  vault.close();
  expect(await service.service.projections.cancel('tokens')).toBe('too_late');
  await service.close();
});

test('a process continues a rebuild that another process began', async () => {
  const first = await startTestService();
  await filled(first);
  await first.service.projections.rebuild('tokens', false);
  await first.stop();
  expect(storedIn(first.dataDir).generations.length).toBe(2);
  const { dataDir, rootKey } = first;
  const second = await startTestService({ dataDir, rootKey });
  expect((await second.service.projections.status())[0]).toMatchObject({ state: 'rebuilding', generation: 1 });
  second.service.start();
  expect(await endOfRebuild(second)).toEqual({ outcome: 'done', different: 0, examples: [] });
  expect(storedIn(dataDir).generations).toEqual([{ generation: 2, state: 'read' }]);
  expect(second.errors).toEqual([]);
  await second.close();
});

test('the time for which the old rows are kept counts from the switch, not from the last restart', async () => {
  const keptMs = 3_600_000;
  const clock = manualClock();
  const first = await startTestService({ keptMs, clock });
  await filled(first);
  await first.service.projections.rebuild('tokens', false);
  const untilKeeping = async ({ service }: Pick<typeof first, 'service'>) =>
    vi.waitFor(async () => expect((await service.projections.status())[0]?.rebuild?.phase).toBe('keeping'), generous);
  await untilKeeping(first);
  await first.stop();
  const { dataDir, rootKey } = first;
  const early = await startTestService({ keptMs, clock, dataDir, rootKey });
  early.service.start();
  await untilKeeping(early);
  await early.stop();
  expect(storedIn(dataDir).generations.length).toBe(2);
  clock.advance(keptMs);
  const late = await startTestService({ keptMs, clock, dataDir, rootKey });
  late.service.start();
  expect(await endOfRebuild(late)).toMatchObject({ outcome: 'done' });
  expect(storedIn(dataDir)).toMatchObject({ generations: [{ generation: 2, state: 'read' }], keys: [2] });
  await late.close();
});
