import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';
import { openMongoKeys } from '#src/compose/cluster/open-mongo-keys.js';
import { until } from '../support/process.js';
import { databaseOfTest, mongoUrl } from './own-database.js';

const program = fileURLToPath(new URL('./key-ring-process.mjs', import.meta.url));

/**
 * Starts a process, and kills it after it has printed `afterLines` lines. Returns the lines that it printed, such as
 * `made <tenant> <key id> <key>` and `destroyed <tenant> <key id>`.
 */
async function killed(database: string, rootKey: Buffer, afterLines: number): Promise<readonly string[][]> {
  const child = spawn(process.execPath, [program, mongoUrl, database], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(rootKey.toString('hex'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await until('enough of what it does', 60_000, () => (output.split('\n').length > afterLines ? true : undefined));
  child.kill('SIGKILL');
  await ended;
  // Leaves out the last line, which may be incomplete.
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' '));
}

test('a kill at any moment neither loses an issued key nor revives a destroyed one', async () => {
  const rootKey = randomBytes(32);
  const { connection } = await databaseOfTest();
  const database = connection.db.databaseName;
  const said: string[][] = [];
  // Starts two processes that run at the same time, and kills both. Repeats this three times.
  for (const round of [1, 2, 3]) {
    const both = [30 * round, 70 * round].map((afterLines) => killed(database, rootKey, afterLines));
    said.push(...(await Promise.all(both)).flat());
  }
  const { keys } = await openMongoKeys(connection, rootKey, { now: Date.now }, async () => 0);
  onTestFinished(() => keys.close());
  const destroyed = new Set(said.filter(([what]) => what === 'destroyed').map(([, , keyId]) => keyId));
  const made = said.filter(([what]) => what === 'made');
  expect(made.length).toBeGreaterThan(100);
  expect(destroyed.size).toBeGreaterThan(10);
  const ending = new Set(said.filter(([what]) => what === 'ending').map(([, , keyId]) => keyId));
  for (const [, tenantId = '', keyId = '', key] of made) {
    const used = await keys.use(tenantId, keyId, (opened) => opened.toString('hex'));
    const found = used.state === 'open' ? used.value : used.state;
    if (destroyed.has(keyId)) expect(found).toBe('destroyed');
    else if (!ending.has(keyId)) expect(found, keyId).toBe(key);
  }

  // Every call that a kill interrupted can be completed, and new keys can be created.
  for (const { tenant } of await keyCollections.tenantKeys(connection.db).find({}).toArray()) {
    await keys.createTenant(tenant);
    const { id } = await keys.create(tenant);
    expect(await keys.use(tenant, id, () => true)).toEqual({ state: 'open', value: true, revision: null });
  }
  expect(await keys.destroy([{ keyId: randomUUID(), eventId: randomUUID() }])).toBe(0);
});
