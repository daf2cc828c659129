import { expect, test } from 'vitest';
import { createAccessRecorder } from '#src/audit/access-log/access-recorder.js';
import type { NewAccessEntry } from '#src/events/access-log/access-entry.js';
import { anEntry } from '../../contract/access-log.js';

test('entries that are being written count towards the limit on entries in memory', async () => {
  const recorded: NewAccessEntry[] = [];
  let finish = (): void => undefined;
  const isSlow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const log = {
    async record(entries: readonly NewAccessEntry[]) {
      await isSlow;
      recorded.push(...entries);
    },
  };
  const recorder = createAccessRecorder(log, (error) => {
    throw error;
  });
  const page = Array.from({ length: 1_000 }, () => anEntry({ tenantId: 'one' }));
  for (let count = 0; count < 20; count += 1) recorder.soon(page);
  recorder.soon([anEntry({ tenantId: 'other' })]);
  finish();
  await recorder.close();
  expect(recorded.filter(({ tenantId }) => tenantId === 'one')).toHaveLength(20_000);
  expect(recorded.filter(({ tenantId }) => tenantId === 'other').map(({ operation }) => operation)).toEqual(['loss']);
});
