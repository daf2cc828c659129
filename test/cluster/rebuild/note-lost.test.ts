import { expect, test } from 'vitest';
import { fill, unread } from '../../rotation/support.js';
import { http, run, startService, until } from '../../support/process.js';
import { storedIn, vaultOnServers } from './support.js';

test('`init` restores a lost record of which rows are in use, unless the restored record could name the wrong rows', {
  timeout: 300_000,
}, async () => {
  const { options, key, rows, keys, open } = await vaultOnServers();
  const first = await startService(['--role', 'all'], options);
  const made = await fill(first.address, { key }, 20);
  expect((await first.stop()).code).toBe(0);
  const stored = () => storedIn({ rows, keys });
  const init = () => run(['init'], options);
  const isMade = { code: 1, stderr: expect.stringContaining('already initialized') };

  await rows.collection('generations').drop();
  expect(await init()).toMatchObject(isMade);
  expect(await stored()).toMatchObject({ read: 1, write: [1], keys: [1] });

  // The next lines put the stores into the state that they have at the start of a rebuild.
  const cluster = await open();
  await cluster.vault.keys.createGeneration();
  await cluster.close();
  await rows.collection('generations').drop();
  const isRefused = { code: 1, stderr: expect.stringContaining('lost during a rebuild') };
  expect(await init()).toMatchObject(isRefused);
  await rows.collection('checkpoints').drop();
  expect(await init(), 'with rows and without checkpoints').toMatchObject(isRefused);
  expect(await stored()).toMatchObject({ read: undefined, keys: [1, 2] });

  await rows.collection('token_rows_1').drop();
  expect(await init()).toMatchObject(isMade);
  expect(await stored()).toMatchObject({ read: 2, write: [2] });
  const second = await startService(['--role', 'all'], options);
  const found = async () => {
    const { body } = await http('POST', `${second.address}/tokens/search`, {
      key,
      body: { query: 'type:token', size: 1 },
    });
    return (body as { readonly pagination?: { readonly total_items: number } }).pagination?.total_items;
  };
  await until('all rows', 120_000, async () => ((await found()) === made.size ? true : undefined));
  expect(await unread(second.address, key, made)).toEqual([]);
  expect((await second.stop()).code).toBe(0);
});
