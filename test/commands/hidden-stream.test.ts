import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeTokens } from '#src/commands/write-path.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { ForgedLog } from '#src/ports/event-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { startTestService, type TestService } from '../support/test-service.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Runs a command on a token with this log. */
async function runOn(id: string, log: TestService['vault']['log']): Promise<unknown> {
  const { vault, tenantId } = service;
  const names = (await vault.keys.tenantKeys(tenantId))?.names;
  if (names === undefined) throw new Error('the tenant has keys');
  const origin = { actorId: 'operator', traceId: null, visitor: null, cmd: null };
  const target = { tenantId, tenantKeys: null, streams: [tokenStream(names, id)], firstFrom: 'log', origin } as const;
  return changeTokens({ ...vault, log }, target, async () => null);
}

/** Runs a command on a token whose stream has no events. The log ends at `head`. */
async function findNoEvents(id: string, head: number): Promise<unknown> {
  const { log } = service.vault;
  return runOn(id, { ...log, readFrom: async () => [], readClearFrom: async () => [], head: async () => head });
}

test('if the log lacks the events of a live token, a command fails instead of finding no token', async () => {
  await service.call('POST', '/tokens', { id: 'hidden', type: 'token', data: 'x' });
  const head = await service.vault.log.head();
  await expect(findNoEvents('hidden', head)).rejects.toThrow(ForgedLog);
  expect(await findNoEvents('unknown', head)).toBeNull();
});

test('if the log ends before the token was created, a command fails without reporting a forged log', async () => {
  const before = await service.vault.log.head();
  await service.call('POST', '/tokens', { id: 'newer', type: 'token', data: 'x' });
  await expect(findNoEvents('newer', before)).rejects.toThrow(new StoreUnavailable('event log', 'behind_rows'));
});

test('if the leader changes while a command looks for the events of a token, the log is not taken for a forged one', async () => {
  const { log } = service.vault;
  const before = await log.head();
  await service.call('POST', '/tokens', { id: 'moved', type: 'token', data: 'x' });
  // The former leader, which lacks the newest events, responds until the command has loaded the token and read once more.
  let isFormer = true;
  const change = <T>(response: T): T => {
    isFormer = false;
    return response;
  };
  const found = await runOn('moved', {
    ...log,
    readFrom: async (...asked) => (isFormer ? [] : log.readFrom(...asked)),
    readClearFrom: async (...asked) => (isFormer ? change([]) : log.readClearFrom(...asked)),
    head: async () => (isFormer ? change(before) : log.head()),
  });
  expect(found).toBeNull();
});
