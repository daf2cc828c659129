import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { http, makeVault, run, runJson, startService, until } from '../support/process.js';

test('commands that read data, starts and stops are in the access log, whether or not a service runs', async () => {
  const { dir, flags, key, managementKey } = await makeVault();
  const keyFile = join(dir, 'key');
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600 });
  const verb = [...flags, '--api-key-file', keyFile];
  const id = String((await runJson(['tokens', 'create', ...verb], { stdin: '{"type":"token","data":"x"}' }))['id']);
  await run(['tokens', 'get', id, ...verb]);
  expect(await (await startService(flags)).stop()).toMatchObject({ code: 0 });
  const { address } = await startService(flags);
  await run(['tokens', 'get', id, ...verb]);
  const ask = async (query: string): Promise<JsonObject[]> => {
    const { body } = await http('GET', `${address}/logs?${query}`, { key: managementKey });
    return body['data'] as JsonObject[];
  };
  const reveals = await until('both reveals', 30_000, async () => {
    const found = await ask(`entity_id=${id}&operation=reveal`);
    return found.length === 2 ? found : undefined;
  });
  for (const reveal of reveals) {
    expect(reveal).toMatchObject({ entity_type: 'token', outcome: 'success', key_id: expect.any(String) });
    expect(reveal).not.toHaveProperty('source_address');
  }
  expect((await ask(`entity_id=${id}&operation=create`)).length).toBe(1);
  const lives = await ask('entity_type=service');
  expect(lives.map(({ operation, actor_type }) => `${actor_type} ${operation}`).slice(0, 3)).toEqual([
    'system start',
    'system stop',
    'system start',
  ]);
});

test('what an operator reads on the command line is in the access log, whether or not a service runs', async () => {
  const { dir, flags, managementKey } = await makeVault();
  const readAll = async (name: string): Promise<void> => {
    await runJson(['applications', 'list', ...flags]);
    for (const format of ['csv', 'jsonl', 'log']) {
      await runJson(['audit', 'export', '--format', format, '--out', join(dir, `${name}.${format}`), ...flags]);
    }
    const [file, checkpoint] = [join(dir, `${name}.stream`), join(dir, `${name}.checkpoint`)];
    await runJson(['audit', 'stream', '--once', '--to-file', file, '--checkpoint', checkpoint, ...flags]);
  };
  await readAll('alone');
  const { address } = await startService(flags);
  await readAll('service');
  const reads = async (entity: string): Promise<JsonObject[]> => {
    const { body } = await http('GET', `${address}/logs?operation=read&entity_type=${entity}`, { key: managementKey });
    return (body['data'] as JsonObject[]).filter(({ actor_type }) => actor_type === 'operator');
  };
  const byOperator = { actor_id: 'operator', outcome: 'success' };
  expect(await reads('application')).toEqual(
    Array(2).fill(expect.objectContaining({ ...byOperator, message: 'applications listed on the command line' })),
  );
  expect(await reads('log')).toEqual(
    Array(8).fill(expect.objectContaining({ ...byOperator, message: 'access log read on the command line' })),
  );
});

test('a command that the application may not run leaves one denied entry, on local data and at an address', async () => {
  const { dir, flags, managementKey } = await makeVault();
  const readerFile = join(dir, 'reader.key');
  const create = ['applications', 'create', '--name', 'reader', '--type', 'private', '--permissions', 'token:read'];
  const reader = await runJson([...create, ...flags]);
  writeFileSync(readerFile, String(reader['key']), { mode: 0o600 });
  const tokensCreate = ['tokens', 'create', '--api-key-file', readerFile];
  const refused = async (target: readonly string[]) => {
    const ended = await run([...tokensCreate, ...target], { stdin: '{"type":"token","data":"x"}' });
    expect(ended, target.join(' ')).toMatchObject({ code: 1, stdout: '' });
  };
  await refused(flags);
  const { address } = await startService(flags);
  await refused(flags);
  await refused(['--address', address]);
  const entries = await until('the denied entries', 30_000, async () => {
    const { body } = await http('GET', `${address}/logs`, { key: managementKey });
    const found = (body['data'] as JsonObject[]).filter(({ outcome }) => outcome === 'denied');
    return found.length >= 3 ? found : undefined;
  });
  const entry = { entity_type: 'token', operation: 'create', actor_id: reader['id'], key_id: expect.any(String) };
  expect(entries).toEqual(Array(3).fill(expect.objectContaining(entry)));
});
