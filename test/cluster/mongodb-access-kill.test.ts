import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { mongoAccessLog } from '#src/adapters/mongodb/access-log/mongo-access-log.js';
import { everything } from '../contract/access-log.js';
import { until } from '../support/process.js';
import { verifyAccessChain } from '../support/verify-access-chain.js';
import { databaseOfTest, mongoUrl } from './own-database.js';

const program = fileURLToPath(new URL('./access-log-process.mjs', import.meta.url));

/**
 * Starts a process, and kills it after it has printed `afterLines` lines. Returns the entries that it printed. The log
 * acknowledged all of them before the kill.
 */
async function killed(database: string, name: string, afterLines: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [program, mongoUrl, database, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await until('enough entries', 60_000, () => (output.split('\n').length > afterLines ? true : undefined));
  child.kill('SIGKILL');
  await ended;
  return output.split('\n').slice(0, -1);
}

test('a kill at any moment loses no acknowledged entry and does not break a chain', async () => {
  const { connection } = await databaseOfTest();
  const log = mongoAccessLog(connection);
  const acknowledged: string[] = [];
  for (const round of [1, 2]) {
    const both = ['a', 'b'].map((name, index) =>
      killed(connection.db.databaseName, `${name}${round}`, 100 * round + 150 * index),
    );
    acknowledged.push(...(await Promise.all(both)).flat());
  }
  const { total, entries } = await log.query('tenant', everything, { offset: 0, limit: 1_000_000 });
  const found = new Set(entries.map(({ message }) => message));
  expect(acknowledged.length).toBeGreaterThan(500);
  expect(acknowledged.filter((message) => !found.has(message))).toEqual([]);
  expect(total).toBe(entries.length);
  const report = await verifyAccessChain(log);
  expect(report).toMatchObject({ problem: null, chains: [{ from: 1 }, { from: 1 }, { from: 1 }, { from: 1 }] });
  await log.close();
});
