import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeTokens } from '#src/commands/write-path.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { ForgedLog } from '#src/ports/event-log.js';
import { startTestService, type TestService } from '../support/test-service.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Returns the revision of a token. The first `reads` reads of its stream find nothing, and the log ends at `head`. */
async function revisionOf(id: string, reads: number, head: number): Promise<number> {
  const { vault, tenantId } = service;
  const names = (await vault.keys.tenantKeys(tenantId))?.names;
  if (names === undefined) throw new Error('the tenant has keys');
  const stream = tokenStream(names, id);
  let left = reads;
  const found = <T>(events: Promise<readonly T[]>) => {
    left -= 1;
    return left < 0 ? events : Promise.resolve([]);
  };
  const log = {
    ...vault.log,
    readFrom: (...args: Parameters<typeof vault.log.readFrom>) => found(vault.log.readFrom(...args)),
    readClearFrom: (...args: Parameters<typeof vault.log.readClearFrom>) => found(vault.log.readClearFrom(...args)),
    head: async () => head,
  };
  const origin = { actorId: 'operator', traceId: null, visitor: null, cmd: null };
  const target = { tenantId, tenantKeys: null, streams: [stream], firstFrom: 'log', origin } as const;
  return changeTokens({ ...vault, log }, target, async ({ viewOf }) => viewOf(stream).state.revision);
}

test('if the log lacks the events of a live token, a command fails instead of finding no token', async () => {
  await service.call('POST', '/tokens', { id: 'hidden', type: 'token', data: 'x' });
  const head = await service.vault.log.head();
  await expect(revisionOf('hidden', Number.POSITIVE_INFINITY, head)).rejects.toThrow(ForgedLog);
});

test('if the log ends before the token was created, a command retries instead of reporting a forged log', async () => {
  const before = await service.vault.log.head();
  await service.call('POST', '/tokens', { id: 'newer', type: 'token', data: 'x' });
  expect(await revisionOf('newer', 2, before)).toBe(0);
});
