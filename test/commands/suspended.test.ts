import { expect, onTestFinished, test } from 'vitest';
import { changeTokens } from '#src/commands/write-path.js';
import { keyNamedWithinMs } from '#src/ports/key-store.js';
import { startTestService } from '../support/test-service.js';

test('a command that continues after its machine was suspended for too long stores nothing', async () => {
  const service = await startTestService();
  onTestFinished(service.close);
  const { vault, tenantId, clock } = service;
  const origin = { actorId: 'operator', traceId: null, visitor: null, cmd: null };
  const target = { tenantId, tenantKeys: null, streams: ['token-new'], firstFrom: 'nothing', origin } as const;
  const storeAfter = (suspendedMs: number) =>
    changeTokens(vault, target, async (attempt) => {
      const sealed = await attempt.seal([]);
      clock.advance(suspendedMs);
      return attempt.commit(sealed, null);
    });

  expect(await storeAfter(keyNamedWithinMs)).toBe('committed');
  await expect(storeAfter(keyNamedWithinMs + 1)).rejects.toThrow('stopped_too_long');
});
