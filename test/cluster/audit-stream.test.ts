import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { http, run, startService, tempDir, until } from '../support/process.js';
import { vaultOnServers } from './rebuild/support.js';

test('a stream to a file contains the records of all processes exactly once, and continues from its checkpoint', async () => {
  const { options, key } = await vaultOnServers();
  const dir = tempDir();
  const [file, checkpoint] = [join(dir, 'siem.jsonl'), join(dir, 'checkpoint')];
  const services = [await startService(['--role', 'api'], options), await startService(['--role', 'api'], options)];
  const revealsIn = () =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { record_id: string; operation: string })
      .filter(({ operation }) => operation === 'reveal');
  const reveal = async () => {
    for (const { address } of services) {
      const made = await http('POST', `${address}/tokens`, { key, body: { type: 'token', data: 'planted-marker' } });
      expect((await http('GET', `${address}/tokens/${made.body['id']}`, { key })).status).toBe(200);
    }
  };
  const stream = () => run(['audit', 'stream', '--to-file', file, '--checkpoint', checkpoint, '--once'], options);

  for (const expected of [2, 4]) {
    await reveal();
    await until('the reveals', 30_000, async () => {
      expect(await stream()).toMatchObject({ code: 0 });
      return revealsIn().length >= expected ? true : undefined;
    });
    expect(revealsIn()).toHaveLength(expected);
  }
  expect(new Set(revealsIn().map(({ record_id }) => record_id)).size).toBe(4);
  expect(readFileSync(file, 'utf8')).not.toContain('planted-marker');
});
