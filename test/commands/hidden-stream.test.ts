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

/** Runs a command on a token whose stream has no events. The log ends at `head`. */
async function findNoEvents(id: string, head: number): Promise<unknown> {
  const { vault, tenantId } = service;
  const names = (await vault.keys.tenantKeys(tenantId))?.names;
  if (names === undefined) throw new Error('the tenant has keys');
  const log = { ...vault.log, readFrom: async () => [], readClearFrom: async () => [], head: async () => head };
  const origin = { actorId: 'operator', traceId: null, visitor: null, cmd: null };
  const target = { tenantId, tenantKeys: null, streams: [tokenStream(names, id)], firstFrom: 'log', origin } as const;
  return changeTokens({ ...vault, log }, target, async () => null);
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
