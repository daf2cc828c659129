import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { StoreBroken } from '#src/adapters/sqlite/database/database-error.js';
import { change, noTokenYet, tokenCreated, tokenWrite } from '../../contract/support.js';
import { create, keyIdsOf } from '../../erasure/support.js';
import { startTestService, type TestService } from '../../support/test-service.js';
import { wreckFile } from '../../support/wreck-file.js';

const operations = {
  'vault.db': ({ vault }: TestService) => vault.work.commit(change(tokenWrite(noTokenYet(), [tokenCreated()]))),
  'keys.db': ({ vault }: TestService, keyId: string) => vault.keys.destroy([{ keyId, eventId: randomUUID() }]),
};

test.each(['vault.db', 'keys.db'] as const)(
  'if %s is damaged while the service runs, no write is acknowledged, the process stops, and closing does not hang',
  async (file) => {
    const service = await startTestService();
    const body = { type: 'token', data: 'x' };
    const ids = await Promise.all(Array.from({ length: 20 }, () => create(service, body)));
    const { content } = await keyIdsOf(service, String(ids[0]));
    wreckFile(join(service.dataDir, file));
    const refused = { name: 'StoreUnavailable', store: 'writer', reason: 'broken' };
    await expect(operations[file](service, String(content[0]))).rejects.toMatchObject(refused);
    expect(service.errors).toMatchObject([
      { name: 'StoreBroken', message: expect.stringContaining(`${file} is damaged`) },
    ]);
    await expect(operations[file](service, String(content[0]))).rejects.toMatchObject(refused);
    const answer = await service.call('DELETE', `/tokens/${ids[1]}`);
    expect([500, 503], answer.text).toContain(answer.status);
    expect(answer.text).not.toMatch(/sqlite|malformed/i);
    await service.stop();
    expect(service.errors.filter((error) => error instanceof StoreBroken)).toHaveLength(1);
    await rm(service.dataDir, { recursive: true });
  },
);
