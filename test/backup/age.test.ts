import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import { http, loggedAddress, makeVault, run, runJson, startService } from '../support/process.js';

test('the metrics of a running service show when the last complete backup began', async () => {
  const { dir, dataDir, flags } = await makeVault();
  const recipient = await identityToRecipient(await generateIdentity());
  const service = await startService([...flags, '--admin-port', '0']);
  const admin = await loggedAddress(service, 'admin_address');
  const shown = async () =>
    Number(/^strongroom_last_backup_timestamp_seconds (\S+)$/m.exec((await http('GET', `${admin}/metrics`)).text)?.[1]);
  expect(await shown()).toBe(0);

  const backUp = (name: string) => ['backup', join(dir, name), '--recipient', recipient, '--data', dataDir];
  const first = await runJson(backUp('first'));
  expect(await shown()).toBe(Date.parse(String(first['made_at'])) / 1_000);

  // A failed backup does not change the reported time of the last backup. Neither does a new list of erased keys.
  expect(await run(backUp('first'))).toMatchObject({ code: 1 });
  expect(await run(['backup', join(dir, 'erased.txt'), '--erased-only', '--data', dataDir])).toMatchObject({ code: 0 });
  expect(await shown()).toBe(Date.parse(String(first['made_at'])) / 1_000);
  const second = await runJson(backUp('second'));
  expect(await shown()).toBe(Date.parse(String(second['made_at'])) / 1_000);
  expect(await service.stop()).toMatchObject({ code: 0 });
});
