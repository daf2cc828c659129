import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startRebuildThread } from '#src/compose/rebuild/start-rebuild-thread.js';
import { makeVault, tempDir } from '../support/process.js';

test('a rebuild thread that cannot start says why', async () => {
  const { dataDir } = await makeVault();
  const wrongKey = startRebuildThread({ dataDir, rootKey: randomBytes(32) });
  await expect(wrongKey.directory()).rejects.toThrow(/this root key does not open keys\.db/);
  await expect(wrongKey.directory(), 'a later call').rejects.toThrow(/this root key does not open keys\.db/);
  const nowhere = startRebuildThread({ dataDir: join(tempDir(), 'nowhere'), rootKey: randomBytes(32) });
  await expect(nowhere.directory()).rejects.toThrow('the rebuild thread failed: TypeError');
});
