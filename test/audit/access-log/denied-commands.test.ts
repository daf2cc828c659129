import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Failure } from '#src/cli/failure.js';
import type { OperationName } from '#src/cli/operations.js';
import { importLines } from '#src/cli/tokens/import-lines.js';
import type { JsonObject } from '#src/domain/json.js';
import { rule, startTestService, type TestService } from '../../support/test-service.js';
import { operate } from '../operate.js';

let service: TestService;

beforeEach(async () => {
  service = await startTestService();
});

afterEach(() => service.close());

async function denied(): Promise<readonly JsonObject[]> {
  const { body } = await service.call('GET', '/logs?size=100', undefined, { key: service.managementKey });
  const entries = body['data'] as JsonObject[];
  return entries.filter(({ outcome }) => outcome === 'denied');
}

const replay = { asOf: '', reveal: false };
const commands: readonly [name: OperationName, input: JsonObject, entry: JsonObject][] = [
  ['tokens-get', { id: 'card' }, { operation: 'read', entity_id: 'card' }],
  ['tokens-create', { request: { type: 'token', data: 'x' } }, { operation: 'create' }],
  ['tokens-delete', { id: 'card' }, { operation: 'delete', entity_id: 'card' }],
  ['tokens-search', { query: '' }, { operation: 'read' }],
  ['tokens-export', { before: null }, { operation: 'read' }],
  ['tokens-import', { strict: false, items: [] }, { operation: 'create' }],
  ['audit-history', { id: 'card' }, { operation: 'read', entity_id: 'card' }],
  ['audit-erasure', { id: 'card' }, { operation: 'read', entity_id: 'card' }],
  ['audit-replay', { id: 'card', ...replay }, { operation: 'read', entity_id: 'card' }],
  ['audit-replay-query', { query: '', after: 0, ...replay }, { operation: 'read' }],
  ['bundle-begin', { ids: null }, { entity_type: 'log', operation: 'read' }],
];

test.each(commands)('%s without the permission leaves one denied entry', async (name, input, entry) => {
  await service.call('POST', '/tokens', { id: 'card', type: 'token', data: 'x' });
  const key = await service.application(['report:read'], 'management');
  await expect(operate(service.service, name, { key, ...input })).rejects.toThrow(/does not hold|holds neither/);
  expect(await denied()).toEqual([
    expect.objectContaining({
      entity_type: 'token',
      actor_type: 'application',
      key_id: expect.any(String),
      message: 'rejected: no permission or rule of the application allows it',
      ...entry,
    }),
  ]);
});

test('a command that no access rule allows leaves one denied entry', async () => {
  await service.call('POST', '/tokens', { id: 'card', type: 'token', data: 'x', containers: ['/general/'] });
  const asOf = String(await service.vault.log.head());
  const key = await service.application([rule('/pci/', 'reveal', ['token:create', 'token:read'])]);
  const request = { type: 'token', data: 'x', containers: ['/general/'] };
  const ask = (name: OperationName, input: JsonObject) => operate(service.service, name, { key, ...input });
  await expect(ask('tokens-create', { request })).rejects.toThrow('no access rule of the application');
  await expect(ask('tokens-get', { id: 'card' })).rejects.toThrow('no access rule of the application');
  await expect(ask('audit-replay', { ...replay, id: 'card', asOf })).rejects.toThrow('may not read this token');
  const items = ['one', 'two'].map((id) => ({ request: { ...request, id }, id: null }));
  await ask('tokens-import', { strict: false, items });
  const found = (await denied()).map(({ operation, entity_id: id = null }) => ({ operation, id }));
  expect(found.reverse()).toEqual([
    { operation: 'create', id: null },
    { operation: 'read', id: 'card' },
    { operation: 'read', id: 'card' },
    { operation: 'create', id: null },
    { operation: 'create', id: null },
  ]);
});

test('an import without the permission leaves one denied entry, however many batches it has', async () => {
  const key = await service.application(['token:read']);
  async function* lines() {
    for (let number = 1; number <= 1_000; number += 1) {
      yield { number, bytes: Buffer.from(JSON.stringify({ id: `token-${number}`, type: 'token', data: number })) };
    }
  }
  const stopped = await importLines(lines(), {
    async run(name, input) {
      // As with a running service, the next batches are sent before the first result arrives.
      await setImmediate();
      return operate(service.service, name, input).catch(fail);
    },
    key,
    strict: false,
    idOf: null,
    isInterrupted: () => false,
    onFailed: () => undefined,
    counts: { created: 0, skipped: 0, deduplicated: 0, failed: 0 },
  });
  expect(stopped).toMatch('does not hold token:create');
  expect(await denied()).toHaveLength(1);
});

test('a command that fails for another reason leaves no denied entry', async () => {
  const ask = (name: OperationName, input: JsonObject) =>
    operate(service.service, name, { key: service.key, ...input });
  await expect(ask('tokens-get', { id: 'none' })).rejects.toThrow('no such token');
  await expect(ask('tokens-create', { request: { type: 'card', data: 'x' } })).rejects.toThrow('data');
  await expect(operate(service.service, 'tokens-get', { key: 'unknown', id: 'none' })).rejects.toThrow('this API key');
  expect(await denied()).toEqual([]);
});

function fail(error: unknown): never {
  throw new Failure(error instanceof Error ? error.message : String(error));
}
