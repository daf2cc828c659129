import { randomInt } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { http, makeVault, runJson, spawnService, startService, type TestVault, until } from '../support/process.js';
import { type Chance, chance, createModel } from './model.js';
import { bytesLeft, livingKeys, livingTokens, lookInto, searchableTokens } from './stores.js';

const rounds = Number(process.env['STRONGROOM_CRASH_ROUNDS'] ?? 12);
const seed = Number(process.env['STRONGROOM_CRASH_SEED'] ?? randomInt(2 ** 31));
const callers = 8;

/**
 * Kills the process with SIGKILL at a random moment under load, restarts it on the same data, and checks the data.
 * Every acknowledged change must be present and complete. A change that was not acknowledged must be present either
 * completely or not at all. Deleted data must be erased.
 */
test(`${rounds} kills under load lose nothing that was acknowledged (seed ${seed})`, {
  timeout: 3_600_000,
}, async () => {
  const random = chance(seed);
  const vault = await makeVault();
  const model = createModel(vault.key, random);
  /** How many keys still existed after a kill although an event had already marked them for destruction. */
  let cutOff = 0;
  /** The wrapped bytes of keys, keyed by key id. They are read from the file while the keys still exist. */
  const seen = new Map<string, Buffer>();
  let erasedSeen = 0;
  // All callers belong to one application and send requests as fast as they can, so the rate limit is turned off.
  const options = { env: { STRONGROOM_RATE_LIMIT_REQUESTS: '0' } };
  let service = await startService(vault.flags, options);

  for (let round = 1; round <= rounds; round += 1) {
    const at = `round ${round}, STRONGROOM_CRASH_SEED=${seed}`;
    const load = Promise.all([
      ...Array.from({ length: callers }, () => model.caller(service.address)),
      model.operator(join(vault.dataDir, 'control.sock'), vault.tenantId),
    ]);
    const halfMs = 20 + random.below(750);
    await Promise.race([load, wait(halfMs)]);
    for (const [id, wrapped] of livingKeys(vault.dataDir)) seen.set(id, wrapped);
    await Promise.race([load, wait(halfMs)]);
    expect(await service.stop('SIGKILL'), at).toMatchObject({ signal: 'SIGKILL', stderr: '' });
    await load;

    const left = lookInto(vault.dataDir, vault.rootKeyFile, vault.tenantId);
    expect(left.isDamaged, at).toBe(false);
    expect(left.wrongPostings, `postings that are in the index or in the rows alone; ${at}`).toBe(0);
    expect(left.reveals, `records of values that left the service; ${at}`).toBeGreaterThanOrEqual(model.shownTimes());
    const erased = left.endedKeysOf(model.deleted());
    const shouldBeGone = erased.flatMap((id) => seen.get(id) ?? []);
    expect(
      erased.filter((id) => left.living.has(id)),
      `deletes answered and not carried out; ${at}`,
    ).toEqual([]);
    expect(bytesLeft(vault.dataDir, shouldBeGone), `bytes of keys of answered deletes; ${at}`).toBe(0);
    erasedSeen = shouldBeGone.length;
    cutOff += left.endedAlive.length;
    if (round % 3 === 1) addGarbage(vault.dataDir, random);
    if (round % 3 === 2) await killWhileStarting(vault.flags, random);

    service = await startService(vault.flags, options);
    expect(await http('GET', `${service.address}/health/ready`), at).toMatchObject({ status: 200 });
    // After a kill, keys that an event marked for destruction can still exist. The service destroys these keys before
    // it becomes ready.
    const toErase = left.endedAlive.flatMap((id) => left.living.get(id) ?? []);
    expect(bytesLeft(vault.dataDir, toErase), `keys of ended tokens in the files after the start; ${at}`).toBe(0);
    expect(await model.check(service.address), at).toEqual([]);
    for (const type of ['token', 'card'] as const) await expectTotal(service.address, vault, type);
  }

  const { tenants } = (await runJson(['tenants', 'list', ...vault.flags])) as { tenants: { tenant_id: string }[] };
  const known = tenants.map(({ tenant_id }) => tenant_id);
  expect(model.tenants.filter((id) => !known.includes(id))).toEqual([]);
  await wait(model.untilExpired());
  const [least, most] = model.living();
  const living = await until('the sweep of short lives', 90_000, () => {
    const seen = livingTokens(vault.dataDir);
    return seen <= most ? seen : undefined;
  });
  expect(living, `living tokens, STRONGROOM_CRASH_SEED=${seed}`).toBeGreaterThanOrEqual(least);
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
  const closed = lookInto(vault.dataDir, vault.rootKeyFile, vault.tenantId);
  expect(closed.endedAlive, `ended keys after a clean stop, STRONGROOM_CRASH_SEED=${seed}`).toEqual([]);
  const { acknowledged } = model;
  console.log(`${rounds} kills, ${model.total()} changes and reveals acknowledged, ${model.shownTimes()} values shown`);
  console.log(`acknowledged ${JSON.stringify(acknowledged)}; keys seen alive whose bytes are gone: ${erasedSeen}`);
  console.log(`keys that a kill left alive after their end: ${cutOff}`);
});

/** Checks that a search finds as many tokens of this type as the rows contain. */
async function expectTotal(address: string, { dataDir, key }: TestVault, type: 'token' | 'card'): Promise<void> {
  await vi.waitFor(async () => {
    const body = { query: `type:${type}`, size: 1 };
    const found = await http('POST', `${address}/tokens/search`, { key, body });
    expect(found.status, found.text).toBe(200);
    expect(found.body['pagination']).toMatchObject({ total_items: searchableTokens(dataDir, type) });
  }, 30_000);
}

/** Appends garbage to the write-ahead logs. A machine crash after the last commit could leave such garbage. */
function addGarbage(dataDir: string, random: Chance): void {
  for (const file of ['vault.db-wal', 'keys.db-wal', 'journal.db-wal'].map((name) => join(dataDir, name))) {
    if (!existsSync(file)) continue;
    // The garbage is either random bytes alone, or half a frame with the correct salt followed by random bytes.
    const frame = readFileSync(file).subarray(32, 32 + 24 + 2_000);
    const noise = Buffer.from(Array.from({ length: 1 + random.below(9_000) }, () => random.below(256)));
    appendFileSync(file, random.next() < 0.5 ? Buffer.concat([frame, noise]) : noise);
  }
}

/**
 * Kills a process during its start or shortly after the process is ready. The kill can interrupt the recovery or the
 * shredder.
 */
async function killWhileStarting(flags: readonly string[], random: Chance): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const starting = spawnService(flags);
    await wait(150 + random.below(700));
    await starting.stop('SIGKILL');
  }
}
