import { expect, onTestFinished, test } from 'vitest';
import { type ImportRequest, importTogether } from '#src/commands/tokens/import-token.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import type { Change } from '#src/ports/unit-of-work.js';
import type { Vault } from '#src/vault/vault.js';
import { operate } from '../audit/operate.js';
import { startTestService } from '../support/test-service.js';

type Import = {
  /** Imports the requests in one change. */
  readonly run: (requests: readonly ImportRequest[], vault?: Vault) => ReturnType<typeof importTogether>;
  readonly vault: Vault;
  /** The number of writes in each change that the imports have committed. */
  readonly writesOfChanges: number[];
  readonly eventCount: () => Promise<number>;
};

/** Runs a test with a vault and an application that may create tokens and has the `permissions`. */
async function withImport(body: (of: Import) => Promise<void>, permissions?: 'create only'): Promise<void> {
  const service = await startTestService();
  try {
    const key = permissions === undefined ? service.key : await service.application(['token:create']);
    const caller = await service.service.authenticate(key);
    if (caller === null) throw new Error('the key must be known');
    const writesOfChanges: number[] = [];
    const commit = (change: Change) => {
      writesOfChanges.push(change.writes.length);
      return service.vault.work.commit(change);
    };
    const vault = { ...service.vault, work: { ...service.vault.work, commit } };
    const context = { caller, traceId: 'import', beganAt: performance.now(), idempotency: null };
    const run: Import['run'] = (requests, on = vault) => importTogether(on, context, requests);
    await body({ run, vault, writesOfChanges, eventCount: service.eventCount });
  } finally {
    await service.close();
  }
}

const request = (id: string, more: Partial<ImportRequest> = {}): ImportRequest => ({
  id,
  type: 'token',
  data: `the value of ${id}`,
  ...more,
});

test('the tokens of a batch are created in one change', () =>
  withImport(async ({ run, writesOfChanges }) => {
    expect(await run([request('line-a'), request('line-b'), request('line-c')])).toEqual([
      'created',
      'created',
      'created',
    ]);
    expect(writesOfChanges).toEqual([3]);
  }));

test('an equal value is deduplicated, and counts as skipped if it has the same id', () =>
  withImport(async ({ run }) => {
    const distinct = (id: string) => request(id, { data: 'the value', deduplicate_token: true });
    expect(await run([distinct('line-a'), distinct('line-b'), distinct('line-a')])).toEqual([
      'created',
      'deduplicated',
      'skipped',
    ]);
  }));

test('a batch is imported one by one, and stores nothing, if a token exists or a line cannot be imported', () =>
  withImport(async ({ run, eventCount }) => {
    await run([request('line-a')]);
    const before = await eventCount();
    const batches = [
      [request('line-a'), request('line-b')],
      [request('line-b'), request('line-a')],
      [request('line-b'), request('line-b', { data: 'another value' })],
      [request('line-b'), request('line-c', { type: 'card', data: { number: '4242424242424241' } })],
      [request('line-b'), request('{{ data | alias_preserve_length: 1, 1 }}')],
      [],
    ];
    for (const batch of batches) expect(await run(batch)).toBeNull();
    expect(await eventCount()).toBe(before);
  }));

test('a batch is imported one by one if the stores have no transaction for several tokens', () =>
  withImport(async ({ run, vault }) => {
    const work = { ...vault.work, isOneTransaction: false };
    expect(await run([request('line-a'), request('line-b')], { ...vault, work })).toBeNull();
  }));

test('a caller that pays for the values it finds imports them one by one, so that no value is charged twice', () =>
  withImport(async ({ run }) => {
    expect(await run([request('line-a', { deduplicate_token: true }), request('line-b')])).toBeNull();
    expect(await run([request('line-a'), request('line-b')])).toEqual(['created', 'created']);
  }, 'create only'));

test('if the store cannot be written, each valid line reports it, and each invalid line reports its error', async () => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const commit = () => Promise.reject(new StoreUnavailable('vault.db', 'full'));
  const vault = { ...service.vault, work: { ...service.vault.work, commit } };
  const broken = { ...service.service, vault };
  const items = Array.from({ length: 20 }, (_, i) => ({
    request: i === 18 ? 'not an object' : request(`line-${i}`),
    id: null,
  }));
  const run = async (strict: boolean) => {
    const { outcomes } = await operate(broken, 'tokens-import', { key: service.key, strict, items });
    return outcomes.map(({ kind: is }) => is);
  };
  expect(await run(false)).toEqual(items.map((_, i) => (i === 18 ? 'failed' : 'stopped')));
  expect(await run(true)).toEqual(['stopped']);
});

test('lines that exist already do not keep the other lines of a batch from being created, in the order of the lines', async () => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const run = async (strict: boolean, ids: readonly number[]) => {
    const items = ids.map((id) => ({ request: request(`line-${id}`), id: null }));
    const { outcomes } = await operate(service.service, 'tokens-import', { key: service.key, strict, items });
    return outcomes.map(({ kind: is }) => is);
  };
  expect(await run(false, [3, 20])).toEqual(['created', 'created']);
  const numbers = Array.from({ length: 40 }, (_, i) => i);
  expect(await run(false, numbers)).toEqual(numbers.map((i) => (i === 3 || i === 20 ? 'skipped' : 'created')));
  expect(await run(true, [...numbers, 40, 41])).toEqual([...numbers.map(() => 'skipped'), 'created', 'created']);
});
