import { expect, test, vi } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { createPlain } from '../http/routes/support.js';
import { startTestService } from '../support/test-service.js';
import { endOfRebuild, generous, openVault, rebuildTokens, storedIn } from './support.js';

test.each([
  ['a due time', 'UPDATE token_rows_1 SET expires_at = 99999999999999 WHERE stream = ?'],
  ['a term', `UPDATE token_rows_1 SET terms = zeroblob(length(terms)) WHERE stream = ?`],
  ['a ciphertext', 'UPDATE token_rows_1 SET content_at = 1 WHERE stream = ?'],
  ['the state', `UPDATE token_rows_1 SET life = json_set(life, '$[2]', 'x') WHERE stream = ?`],
  ['a fingerprint', `UPDATE token_rows_1 SET fingerprint = 'f' WHERE stream = ?`],
  ['the whole row', 'DELETE FROM token_rows_1 WHERE stream = ?'],
])('if %s was changed by hand, the old rows stay in use, and the token is named', async (_what, sql) => {
  const service = await startTestService();
  for (let made = 0; made < 5; made += 1) await createPlain(service);
  const vault = openVault(service.dataDir);
  const stream = vault
    .prepare('SELECT stream FROM token_rows_1 ORDER BY stream LIMIT 1 OFFSET 2')
    .pluck()
    .get() as Buffer;
  vault.prepare(sql).run(stream);
  vault.close();
  const examples = [`token-${stream.toString('hex')}`];
  expect(await rebuildTokens(service)).toEqual({ outcome: 'different', different: 1, examples });
  expect(storedIn(service.dataDir)).toMatchObject({ generations: [{ generation: 1, state: 'read' }], keys: [1] });
  expect(await rebuildTokens(service, true)).toEqual({ outcome: 'done', different: 1, examples });
  expect(storedIn(service.dataDir)).toMatchObject({ generations: [{ generation: 3, state: 'read' }], keys: [3] });
  expect(await rebuildTokens(service)).toEqual({ outcome: 'done', different: 0, examples: [] });
  await service.close();
});

test('a lost key stops the rebuild, and the rebuild names the token and changes nothing', async () => {
  const service = await startTestService();
  await createPlain(service);
  await service.stop();
  const { dataDir, rootKey } = service;
  const keys = pinStatements(`${dataDir}/keys.db`, {});
  keys.exec('DELETE FROM data_keys');
  keys.close();
  const again = await startTestService({ dataDir, rootKey });
  expect(await rebuildTokens(again)).toMatchObject({
    outcome: 'key_lost',
    examples: [expect.stringMatching(/^token-/)],
  });
  expect(storedIn(dataDir)).toMatchObject({ generations: [{ generation: 1, state: 'read' }], keys: [1] });
  expect((await again.service.state()).reasons).toContain('token keys are lost');
  await again.close();
});

test('at a start, rows from an older version are rebuilt, which is logged, and rows from a newer version are rejected', async () => {
  const service = await startTestService();
  const { id } = await createPlain(service);
  await service.stop();
  const { dataDir, rootKey } = service;
  const setVersions = (version: number) => {
    const vault = openVault(dataDir);
    vault.prepare('UPDATE projections SET version = ?').run(version);
    vault.close();
  };
  setVersions(0);
  const again = await startTestService({ dataDir, rootKey });
  again.service.start();
  await vi.waitFor(async () => expect((await again.service.projections.status())[0]?.version).toBe(1), generous);
  expect(await endOfRebuild(again)).toMatchObject({ outcome: 'done' });
  expect(again.notices).toEqual([
    'the directory was built by an older version and is being rebuilt',
    'the token rows were built by an older version; they stay in use while new ones are built',
  ]);
  expect((await again.call('GET', `/tokens/${id}`, undefined, { key: service.key })).status).toBe(200);
  const status = await again.service.projections.status();
  expect(status.map(({ version }) => version)).toEqual([1, 1, 1, null, null]);
  await again.stop();
  setVersions(2);
  await expect(startTestService({ dataDir, rootKey })).rejects.toThrow('newer version of Strongroom');
  setVersions(1);
  await (await startTestService({ dataDir, rootKey })).close();
});

test('the directory is replaced atomically, and the shredder repeats its work', async () => {
  const service = await startTestService();
  const { id } = await createPlain(service);
  await service.call('DELETE', `/tokens/${id}`);
  const vault = openVault(service.dataDir);
  const rows = () => vault.prepare('SELECT * FROM directory ORDER BY kind, id').all();
  const keys = () => vault.prepare('SELECT hash, used_on FROM api_keys ORDER BY hash').all();
  const [directory, apiKeys] = [rows(), keys()];
  vault.exec(`UPDATE directory SET revision = revision - 1; DELETE FROM directory WHERE kind = 'tenant';`);
  vault.exec(`INSERT INTO api_keys (hash, id, application) VALUES ('h', 'i', 'nobody')`);
  expect(await service.service.projections.rebuild('directory', false)).toBe('done');
  expect([rows(), keys()]).toEqual([directory, apiKeys]);
  vault.close();
  expect(await service.service.projections.rebuild('shredder', false)).toBe('done');
  expect(await service.service.projections.rebuild('vocabulary', false)).toBe('done');
  expect(await service.vault.keys.checkpoint('shredder')).toBe(await service.vault.log.head());
  expect((await createPlain(service)).id).toBeTruthy();
  await service.close();
});
