import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Call, create, found, loaded } from '../../rebuild/load.js';
import { http, run, runJson, spawnCommand, startService, tempDir, until } from '../../support/process.js';
import { storedIn, vaultOnServers } from './support.js';

const tokens = 300;
const patience = 120_000;

test('two API processes and a worker keep working while a rebuild is started, canceled, killed and continued', {
  timeout: 600_000,
}, async () => {
  const { options, key, rows, keys } = await vaultOnServers();
  const services = [
    await startService(['--role', 'api'], options),
    await startService(['--role', 'api'], options),
    await startService(['--role', 'worker'], options),
  ] as const;
  const file = join(tempDir(), 'tokens.ndjson');
  const keyFile = join(tempDir(), 'key');
  writeFileSync(keyFile, key, { mode: 0o600 });
  const line = (n: number) => `${JSON.stringify({ id: `old-${n}`, type: 'token', data: `value ${n}` })}\n`;
  writeFileSync(file, Array.from({ length: tokens }, (_, n) => line(n)).join(''));
  expect((await run(['tokens', 'import', file, '--api-key-file', keyFile], options)).code).toBe(0);

  let turn = 0;
  const call: Call = (method, url, body) => {
    turn += 1;
    // The requests alternate between two processes. Each process must therefore see what the other process has
    // acknowledged.
    return http(method, `${services[turn % 2 === 0 ? 0 : 1].address}${url}`, { key, body });
  };
  const before = await Promise.all(Array.from({ length: 20 }, () => create(call, 'before')));
  const ids = before.map(({ id }) => id).sort();
  let going = true;
  const looker = (async () => {
    while (going) expect(await found(call, 'metadata.group:before')).toEqual({ ids, total: 20 });
    return 1;
  })();
  const load = Promise.all([...['a', 'b'].map((group) => loaded(call, group, () => going)), looker]);

  const projections = (...args: readonly string[]) => ['projections', ...args];
  const rebuild = projections('rebuild', 'tokens', '--yes');
  const stored = () => storedIn({ rows, keys });
  /** Starts a rebuild and kills it once some rows are built. Returns false if the rebuild finished before the kill. */
  const killedMidway = async (): Promise<boolean> => {
    const verb = spawnCommand(rebuild, options);
    let hasEnded = false;
    verb.ended.then(() => {
      hasEnded = true;
    });
    const isMidway = await until('some rows, or the end', patience, async () => {
      if (hasEnded) return false;
      const { rebuild: state, rows: counts } = await stored();
      if (state?.phase !== 'building') return undefined;
      return (counts[`token_rows_${state.generation}`] ?? 0) > 50 ? true : undefined;
    });
    await verb.stop('SIGKILL');
    return isMidway;
  };
  const operated = (async () => {
    // One process runs the rebuild, and another process cancels it.
    const first = spawnCommand(rebuild, options);
    // A finished rebuild keeps the old rows for at least ten seconds, so this check sees the rebuild even if it is
    // fast.
    await until('a rebuild', patience, async () => ((await stored()).rebuild === null ? undefined : true));
    expect(await run(rebuild, options)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('a rebuild of tokens is already running'),
    });
    const taken = await run(projections('cancel', 'tokens'), options);
    // If the cancellation failed, the rebuild had already finished.
    if (taken.code === 0) {
      expect(await first.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('was canceled') });
      expect(await stored()).toMatchObject({ read: 1, write: [1], rebuild: null, keys: [1] });
    } else await first.ended;
    expect(Object.keys((await stored()).rows)).toEqual([`token_rows_${(await stored()).read}`]);

    while (!(await killedMidway()));
    const { projections: statuses } = await runJson(projections('status'), options);
    expect(statuses).toMatchObject([
      { name: 'tokens', state: 'rebuilding', rebuild: expect.any(Object) },
      {},
      {},
      {},
      {},
    ]);
    expect(await run(rebuild, options)).toMatchObject({ code: 0, stdout: 'rebuilt tokens\n' });
  })();
  // If a caller gets a wrong response, `load` rejects, and the test fails immediately.
  try {
    await Promise.race([operated, load]);
  } finally {
    going = false;
  }
  await operated;
  expect(Math.min(...(await load))).toBeGreaterThan(0);

  const { read, ...end } = await stored();
  expect(end).toMatchObject({ write: [read], keys: [read], rebuild: { phase: 'ended', outcome: 'done' } });
  expect(Object.keys(end.rows)).toEqual([`token_rows_${read}`]);
  for (let n = 0; n < tokens; n += 50) {
    expect((await call('GET', `/tokens/old-${n}`)).body).toMatchObject({ data: `value ${n}` });
  }
  expect(await run(projections('cancel', 'tokens'), options)).toMatchObject({ code: 1 });
  for (const service of services) expect((await service.stop()).code).toBe(0);
});
