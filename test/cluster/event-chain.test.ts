import { expect, onTestFinished, test } from 'vitest';
import { mongoEventChain } from '#src/adapters/mongodb/event-chain.js';
import { startTestService } from '../support/test-service.js';
import { databaseOfTest } from './own-database.js';

test('following the log ends although there is always another event', async () => {
  const { connection } = await databaseOfTest();
  const service = await startTestService();
  onTestFinished(() => service.close());
  const { log } = service.vault;
  const chain = mongoEventChain(connection, {
    async readClear(after, limit) {
      await service.call('POST', '/tokens', { type: 'token', data: 1 });
      return log.readClear(after, limit);
    },
  });
  await chain.follow();
  expect((await chain.head())?.position).toBe(await log.head());
});
