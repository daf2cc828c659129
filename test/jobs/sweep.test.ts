import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSweep } from '#src/jobs/sweep.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import type { DueRow } from '#src/ports/token-rows.js';
import type { Vault } from '#src/vault/vault.js';
import { withClaimMac } from '#src/views/row-mac.js';
import { rowsAttacker } from '../commands/integrity/rows-attacker.js';
import { aCard, anHour, create, deletedWithLivingKeys, keyIdsOf, streamOf } from '../erasure/support.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(async () => {
  vi.useRealTimers();
  await service.close();
});

const aDay = 24 * anHour;
const inMs = (ms: number) => new Date(service.clock.now() + ms).toISOString();

async function typesOf(id: string): Promise<string[]> {
  return (await service.vault.log.readStream(await streamOf(service, id))).map(({ type }) => type);
}

describe('the sweep', () => {
  test('records an expiry and the end of a cvc’s hour once each, as the system, with the times at which they were due', async () => {
    const { clock, vault } = service;
    const start = clock.now();
    const id = await create(service, aCard('123', { expires_at: inMs(2 * anHour) }));
    expect(await service.service.sweep.run()).toBe(0);
    clock.advance(anHour - 1);
    expect(await service.service.sweep.run()).toBe(0);
    clock.advance(10_001);
    for (let repeat = 0; repeat < 2; repeat += 1) await service.service.sweep.run();
    clock.advance(anHour);
    for (let repeat = 0; repeat < 2; repeat += 1) await service.service.sweep.run();
    const events = await vault.log.readStream(await streamOf(service, id));
    expect(events.map(({ type }) => type)).toEqual(['token.created', 'token.property.expired', 'token.expired']);
    expect(events.slice(1)).toMatchObject([
      { actorId: 'system', trace: null, clear: { property: 'cvc', reason: 'due', due_at: start + anHour } },
      { actorId: 'system', trace: null, clear: { due_at: start + 2 * anHour } },
    ]);
    expect(service.errors).toEqual([]);
  });

  test('records an expiry and a purge in one run if both are overdue', async () => {
    const id = await create(service, aCard('123', { expires_at: inMs(anHour / 2) }));
    service.clock.advance(aDay);
    await service.service.sweep.run();
    expect((await typesOf(id)).at(-1)).toBe('token.expired');
    expect(await service.vault.rows.nextDueAt()).toBeNull();
    expect(service.errors).toEqual([]);
  });

  test('records more than one page of rows in one run', async () => {
    const expires_at = inMs(1_000);
    for (let lot = 0; lot < 11; lot += 1) {
      await Promise.all(Array.from({ length: 100 }, () => create(service, { type: 'token', data: 'x', expires_at })));
    }
    service.clock.advance(1_000);
    expect(await service.service.sweep.run()).toBe(1_100);
    expect(service.errors).toEqual([]);
    expect(await service.vault.rows.due(service.clock.now(), 10)).toEqual([]);
  });

  test('records nothing if the due time has changed in the meantime', async () => {
    const id = await create(service, { type: 'token', data: 'x', expires_at: inMs(1_000) });
    const [row] = await service.vault.rows.due(service.clock.now() + 1_000, 10);
    expect((await service.call('PATCH', `/tokens/${id}`, { expires_at: inMs(anHour) })).status).toBe(200);
    service.clock.advance(2_000);
    await sweepOf(row);
    expect(await typesOf(id)).toEqual(['token.created', 'token.updated']);
  });

  test('records nothing for a timer that names another tenant than the one of the token', async () => {
    const id = await create(service, { type: 'token', data: 'x', expires_at: inMs(1_000) });
    service.clock.advance(1_000);
    const [row] = await service.vault.rows.due(service.clock.now(), 10);
    await sweepOf(row && { ...row, tenantId: randomUUID() });
    expect(await typesOf(id)).toEqual(['token.created']);
    await sweepOf(row);
    expect(await typesOf(id)).toEqual(['token.created', 'token.expired']);
  });

  /** Runs a sweep that finds only this row. */
  async function sweepOf(row: DueRow | undefined): Promise<void> {
    const rows = { ...service.vault.rows, due: async () => (row === undefined ? [] : [row]) };
    const sweep = createSweep(
      { ...service.vault, rows },
      async () => undefined,
      (error) => expect.unreachable(String(error)),
    );
    expect(await sweep.run()).toBe(1);
  }
});

test('a row that fails does not stop the others, and is reported', async () => {
  const expires_at = inMs(1_000);
  const ids = await Promise.all(
    Array.from({ length: 5 }, () => create(service, { type: 'token', data: 'x', expires_at })),
  );
  const failing = await streamOf(service, String(ids[2]));
  const unlessFailing = (stream: string): string => {
    if (stream === failing) throw new Error('damaged');
    return stream;
  };
  const { rows: wholeRows, log: wholeLog } = service.vault;
  const rows: Vault['rows'] = { ...wholeRows, get: (stream) => wholeRows.get(unlessFailing(stream)) };
  const log: Vault['log'] = {
    ...wholeLog,
    readFrom: (stream, fromRevision, limit) => wholeLog.readFrom(unlessFailing(stream), fromRevision, limit),
  };
  const errors: unknown[] = [];
  const sweep = createSweep(
    { ...service.vault, rows, log },
    async () => undefined,
    (error) => errors.push(error),
  );
  service.clock.advance(1_000);
  await sweep.run();
  expect(errors).toMatchObject([{ message: 'damaged' }]);
  const types = await Promise.all(ids.map(async (id) => (await typesOf(id)).at(-1)));
  expect(types).toEqual([0, 1, 2, 3, 4].map((index) => (index === 2 ? 'token.created' : 'token.expired')));
  await service.service.sweep.run();
  expect((await typesOf(String(ids[2]))).at(-1)).toBe('token.expired');
});

/** Threat: an attacker who can write to the rows plants rows that are due and belong to no token. */
describe('planted due rows', () => {
  const plantedRows = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      stream: `token-${String(index).padStart(64, '0')}`,
      tenantId: service.tenantId,
      due: 'expiry' as const,
      dueAt: index,
    }));

  /** Runs a sweep that finds the planted rows before all other due rows. Returns the number of rows that it tried. */
  async function sweptWith(
    planted: (limit: number) => readonly DueRow[],
    changes: Partial<Pick<Vault, 'log'>> = {},
    onError: (error: unknown) => void = (error) => expect.unreachable(String(error)),
  ): Promise<number> {
    const { vault } = service;
    let reads = 0;
    const due: Vault['rows']['due'] = async (now, limit, codesNow) => {
      reads += 1;
      if (reads > 100) throw new Error('the sweep does not end');
      return [...planted(limit), ...(await vault.rows.due(now, limit, codesNow))].slice(0, limit);
    };
    const sweep = createSweep({ ...vault, ...changes, rows: { ...vault.rows, due } }, async () => undefined, onError);
    return sweep.run();
  }

  test('do not keep other tokens from being swept', async () => {
    const id = await create(service, { type: 'token', data: 'x', expires_at: inMs(1_000) });
    service.clock.advance(1_000);
    const planted = plantedRows(1_200);
    expect(await sweptWith(() => planted)).toBe(1_201);
    expect(await typesOf(id)).toEqual(['token.created', 'token.expired']);
  });

  test('do not keep other tokens from being swept if they fail', async () => {
    const id = await create(service, { type: 'token', data: 'x', expires_at: inMs(1_000) });
    service.clock.advance(1_000);
    const planted = plantedRows(1_000);
    const streams = new Set(planted.map(({ stream }) => stream));
    const { log } = service.vault;
    const readFrom: Vault['log']['readFrom'] = (stream, ...rest) => {
      if (streams.has(stream)) throw new Error('damaged');
      return log.readFrom(stream, ...rest);
    };
    const errors: unknown[] = [];
    await sweptWith(
      () => planted,
      { log: { ...log, readFrom } },
      (error) => errors.push(error),
    );
    expect(errors).toHaveLength(500);
    expect(await typesOf(id)).toEqual(['token.created', 'token.expired']);
  });

  test('do not keep the sweep from its other work although there are always more of them', async () => {
    expect(await sweptWith((limit) => plantedRows(limit))).toBeLessThan(10_000);
  });

  test('are not all tried while a store is down', async () => {
    const planted = plantedRows(1_000);
    const readFrom = () => Promise.reject(new StoreUnavailable('eventstoredb', 'down'));
    const tried = sweptWith(
      () => planted,
      { log: { ...service.vault.log, readFrom } },
      () => undefined,
    );
    expect(await tried).toBe(500);
  });
});

/** Creates a sweep, and counts its rounds. `pass` advances the clock and the timers by the same amount of time. */
function observedSweep(
  given: Partial<Pick<Vault['rows'], 'get' | 'nextDueAt'>> = {},
  due: readonly DueRow[] = [],
  onError: (error: unknown) => void = (error) => expect.unreachable(String(error)),
) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const rounds: number[] = [];
  const { vault, clock } = service;
  const rows = {
    ...vault.rows,
    due: async () => {
      rounds.push(clock.now());
      return due;
    },
    ...given,
  };
  const sweep = createSweep({ ...vault, rows }, async () => undefined, onError);
  const pass = async (ms: number) => {
    clock.advance(ms);
    vi.advanceTimersByTime(ms);
    // A round uses the writer thread, whose work does not depend on the fake timers. The test therefore waits for the
    // thread here.
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  };
  return { sweep, rounds, pass };
}

describe('the sweep runs', () => {
  beforeEach((context) =>
    embeddedOnly(context, 'its timers are moved by hand, and with them the limits of calls to servers'),
  );

  test('when it starts, then every 20 seconds, and not after it was stopped', async () => {
    const { sweep, rounds, pass } = observedSweep();
    sweep.start();
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    for (const count of [2, 3]) {
      await pass(20_000);
      await expect.poll(() => [rounds.length, vi.getTimerCount()]).toEqual([count, 1]);
    }
    await sweep.stop();
    await pass(60_000);
    expect(rounds).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('every 20 seconds, not every second, while a row that is due cannot be recorded', async () => {
    const row = { stream: 'token-a', tenantId: service.tenantId, due: 'expiry', dueAt: service.clock.now() } as const;
    const get = () => Promise.reject(new Error('damaged'));
    const errors: unknown[] = [];
    const given = { get, nextDueAt: async () => row.dueAt };
    const { sweep, rounds, pass } = observedSweep(given, [row], (error) => void errors.push(error));
    sweep.start();
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    await pass(19_000);
    expect([rounds.length, errors.length]).toEqual([1, 1]);
    await pass(1_000);
    await expect.poll(() => [rounds.length, errors.length]).toEqual([2, 2]);
    await sweep.stop();
  });

  test('every 20 seconds, not every second, while many planted rows remain due', async () => {
    const planted = Array.from({ length: 600 }, (_, index) => ({
      stream: `token-${String(index).padStart(64, '0')}`,
      tenantId: service.tenantId,
      due: 'expiry' as const,
      dueAt: index,
    }));
    const { sweep, rounds, pass } = observedSweep({ nextDueAt: async () => 0 }, planted);
    sweep.start();
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    // Each round reads the rows again after it has tried them.
    const readsOfRound = rounds.length;
    await pass(19_000);
    expect(rounds).toHaveLength(readsOfRound);
    await pass(1_000);
    await expect.poll(() => rounds.length).toBe(2 * readsOfRound);
    await sweep.stop();
  });

  test('earlier if a token is due earlier, but not later if a token is due later', async () => {
    const { sweep, rounds, pass } = observedSweep();
    sweep.start();
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    sweep.dueAt(service.clock.now() + 3_000);
    sweep.dueAt(service.clock.now() + 9_000);
    await pass(2_999);
    expect(rounds).toHaveLength(1);
    await pass(1);
    await expect.poll(() => rounds).toHaveLength(2);
    await sweep.stop();
  });

  test('once, not once per token, if many tokens become due during a slow round, and not at all after it was stopped', async () => {
    const waiting: (() => void)[] = [];
    const nextDueAt = () => new Promise<null>((resolve) => waiting.push(() => resolve(null)));
    const { sweep, rounds, pass } = observedSweep({ nextDueAt });
    const addTokens = async (): Promise<void> => {
      for (let i = 0; i < 10; i += 1) {
        sweep.dueAt(service.clock.now() + 10);
        await pass(10);
      }
    };
    const endRound = async (count: number): Promise<void> => {
      await expect.poll(() => [rounds.length, waiting.length]).toEqual([count, 1]);
      waiting.pop()?.();
    };
    sweep.start();
    await expect.poll(() => waiting).toHaveLength(1);
    await addTokens();
    await endRound(1);
    await endRound(2);
    await pass(100);
    expect(rounds).toHaveLength(2);
    await pass(20_000);
    await expect.poll(() => waiting).toHaveLength(1);
    await addTokens();
    const stopped = sweep.stop();
    await endRound(3);
    await stopped;
    expect(rounds).toHaveLength(3);
  });

  test('neither before it was started nor after it was stopped', async () => {
    const { sweep, rounds, pass } = observedSweep();
    sweep.dueAt(service.clock.now() + 10);
    await pass(100);
    sweep.start();
    await sweep.stop();
    sweep.dueAt(service.clock.now() + 10);
    await pass(100);
    expect(rounds).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('no other round after it was stopped, and the stop waits for the current round', async () => {
    let goOn: (value: null) => void = () => undefined;
    const held = new Promise<null>((resolve) => {
      goOn = resolve;
    });
    let asked = false;
    const { sweep, rounds, pass } = observedSweep({
      nextDueAt: () => {
        asked = true;
        return held;
      },
    });
    sweep.start();
    await expect.poll(() => asked).toBe(true);
    let stopped = false;
    const stopping = sweep.stop().then(() => {
      stopped = true;
    });
    await pass(60_000);
    expect(stopped).toBe(false);
    goOn(null);
    await stopping;
    await pass(60_000);
    expect([rounds.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});

describe('housekeeping', () => {
  async function oneRound(): Promise<void> {
    const { sweep } = service.service;
    sweep.start();
    await sweep.stop();
    expect(service.errors).toEqual([]);
  }

  test('claims are removed after one day, so their idempotency keys can be used again', async () => {
    const { vault, clock } = service;
    const cmd = 'c'.repeat(64);
    const claim = withClaimMac(vault.integrity.rows, { cmd, result: { tokens: [] }, time: clock.now() });
    await vault.work.commit({ writes: [], claim });
    clock.advance(aDay);
    await oneRound();
    expect(await vault.claims.begin(cmd, 0)).toMatchObject({ state: 'done' });
    clock.advance(60_000);
    await oneRound();
    expect(await vault.claims.begin(cmd, 0)).toEqual({ state: 'fresh' });
  });

  test('tombstones are removed after seven days, and the history stays', async () => {
    const id = await create(service, { type: 'token', data: 'x' });
    const stream = await streamOf(service, id);
    expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
    service.clock.advance(7 * aDay);
    await oneRound();
    expect(await service.vault.rows.get(stream)).toMatchObject({ state: { life: null } });
    service.clock.advance(60_000);
    await oneRound();
    expect(await service.vault.rows.get(stream)).toBeNull();
    expect(await typesOf(id)).toEqual(['token.created', 'token.deleted']);
    expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(404);
    await create(service, { id, type: 'token', data: 'again' });
    expect((await service.call('GET', `/tokens/${id}`)).body).toMatchObject({ data: 'again' });
  });

  test('the keys that a crash left are destroyed, and orphan keys are searched for', async (context) => {
    embeddedOnly(context, 'the shredder follows the rows there, which a worker brings to the head: cluster/faults');
    const { keyIds } = await deletedWithLivingKeys(service);
    const { id: orphan } = await service.vault.keys.create(service.tenantId);
    service.clock.advance(2 * anHour);
    await oneRound();
    for (const id of [...keyIds, orphan]) {
      expect((await service.vault.keys.use(service.tenantId, id, () => 0)).state).toBe('destroyed');
    }
  });

  test('the newest link of the log is recorded in the key store, so that an older copy of the log is detected', async () => {
    const { chain, keys } = service.vault;
    await create(service, aCard());
    await chain.follow();
    await oneRound();
    expect((await keys.logMemory()).link).toEqual(await chain.head());
  });

  test('deletions that the shredder finishes are no longer remembered as unfinished', async (context) => {
    embeddedOnly(context, 'the shredder follows the rows there, which a worker brings to the head: cluster/faults');
    const { keys, unfinishedErasures } = service.vault;
    const id = await create(service, aCard());
    const { content, cvc } = await keyIdsOf(service, id);
    const failing = vi.spyOn(keys, 'destroy').mockRejectedValue(new StoreUnavailable('keys.db', 'busy'));
    expect((await service.call('POST', '/tokens/delete', { ids: [id] })).status).toBe(503);
    service.service.sweep.start();
    await service.service.sweep.stop();
    expect(service.errors.splice(0), 'the shredder fails').toEqual([expect.any(StoreUnavailable)]);
    expect(unfinishedErasures.of(service.tenantId)).toHaveLength(1);
    failing.mockRestore();
    service.clock.advance(60_000);
    await oneRound();
    expect(unfinishedErasures.of(service.tenantId), 'its event may have been appended during the pass').toHaveLength(1);
    service.clock.advance(60_000);
    await oneRound();
    expect(unfinishedErasures.of(service.tenantId)).toEqual([]);
    for (const keyId of [...content, ...cvc]) {
      expect((await keys.use(service.tenantId, keyId, () => 0)).state).toBe('destroyed');
    }
  });

  test('a deletion stays unfinished while rows are missing, because the shredder does not read past them', async (context) => {
    embeddedOnly(context, 'the shredder follows the rows there, which a worker brings to the head: cluster/faults');
    const { vault, tenantId, clock } = service;
    const id = await create(service, aCard());
    const { content } = await keyIdsOf(service, id);
    const failing = vi.spyOn(vault.keys, 'destroy').mockRejectedValue(new StoreUnavailable('keys.db', 'busy'));
    expect((await service.call('POST', '/tokens/delete', { ids: [id] })).status).toBe(503);
    failing.mockRestore();
    let projectedUpTo = 0;
    const sweep = createSweep(
      vault,
      async () => undefined,
      (error) => expect.unreachable(String(error)),
      async () => projectedUpTo,
    );
    const rounds = async (count: number): Promise<void> => {
      for (let round = 0; round < count; round += 1) {
        clock.advance(60_000);
        sweep.start();
        await sweep.stop();
      }
    };
    await rounds(3);
    expect(vault.unfinishedErasures.of(tenantId)).toHaveLength(1);
    projectedUpTo = await vault.log.head();
    await rounds(3);
    expect(vault.unfinishedErasures.of(tenantId)).toEqual([]);
    for (const keyId of content) expect((await vault.keys.use(tenantId, keyId, () => 0)).state).toBe('destroyed');
  });
});

describe('a step that fails', () => {
  beforeEach((context) =>
    embeddedOnly(context, 'its timers are moved by hand, and with them the limits of calls to servers'),
  );

  /**
   * Starts a sweep. The steps in `failing` fail. `tries` counts how often each step was tried, and `errors` are the
   * messages that were reported.
   */
  function failingSweep(...names: ('rows' | 'shredder' | 'orphans')[]) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { vault, clock } = service;
    const failing = new Set(names);
    const tries = { rows: 0, shredder: 0, tombstones: 0, orphans: 0 };
    const errors: string[] = [];
    const attempt = async <T>(name: (typeof names)[number], work: () => T | Promise<T>): Promise<T> => {
      tries[name] += 1;
      if (failing.has(name)) throw new Error(`${name} failed`);
      return work();
    };
    const due: Vault['rows']['due'] = (...given) => attempt('rows', () => vault.rows.due(...given));
    const made: Vault['keys']['made'] = (...given) => attempt('orphans', () => vault.keys.made(...given));
    const sweep = createSweep(
      { ...vault, rows: { ...vault.rows, due }, keys: { ...vault.keys, made } },
      async () => {
        tries.tombstones += 1;
      },
      (error) => errors.push(error instanceof Error ? error.message : 'not an error'),
      () => attempt('shredder', () => vault.log.head()),
    );
    onTestFinished(() => sweep.stop());
    sweep.start();
    let rounds = 1;
    const ended = () => expect.poll(() => [tries.rows, vi.getTimerCount()]).toEqual([rounds, 1]);
    /** Lets 20 s pass, and waits for the end of the round that begins then. */
    const nextRound = async (): Promise<void> => {
      rounds += 1;
      clock.advance(20_000);
      vi.advanceTimersByTime(20_000);
      await ended();
    };
    return { sweep, failing, tries, errors, ended, nextRound };
  }

  test('does not stop the steps after it, and is retried in the next regular round', async () => {
    const { failing, tries, errors, ended, nextRound } = failingSweep('shredder', 'orphans');
    await ended();
    expect(errors).toEqual(['shredder failed', 'orphans failed']);
    expect(tries).toEqual({ rows: 1, shredder: 1, tombstones: 1, orphans: 1 });
    failing.clear();
    await nextRound();
    expect(tries).toEqual({ rows: 2, shredder: 2, tombstones: 1, orphans: 2 });
    await nextRound();
    await nextRound();
    expect(tries).toEqual({ rows: 4, shredder: 2, tombstones: 2, orphans: 2 });
    await nextRound();
    expect(tries).toEqual({ rows: 5, shredder: 3, tombstones: 2, orphans: 2 });
    expect(errors).toHaveLength(2);
  });

  test('does not stop housekeeping if it is the search for due rows', async () => {
    const { tries, errors, ended } = failingSweep('rows');
    await ended();
    expect(errors).toEqual(['rows failed']);
    expect(tries).toEqual({ rows: 1, shredder: 1, tombstones: 1, orphans: 1 });
  });

  test('ends the round if the sweep is being stopped, so that a stop does not wait for a store once per step', async () => {
    const { sweep, tries, errors } = failingSweep('rows');
    await sweep.stop();
    expect(errors).toEqual(['rows failed']);
    expect(tries).toEqual({ rows: 1, shredder: 0, tombstones: 0, orphans: 0 });
  });

  test('is retried less and less often, until it is tried as often as a step that succeeds', async () => {
    const { tries, ended, nextRound } = failingSweep('shredder', 'orphans');
    await ended();
    const roundsWith = { shredder: [0], orphans: [0] };
    for (let round = 1; round <= 10; round += 1) {
      const before = { ...tries };
      await nextRound();
      for (const name of ['shredder', 'orphans'] as const) {
        if (tries[name] > before[name]) roundsWith[name].push(round);
      }
    }
    expect(roundsWith).toEqual({ shredder: [0, 1, 3, 6, 9], orphans: [0, 1, 3, 7] });
  });
});

test('the tokens of a tenant whose row is forged do not keep the sweep from those of other tenants', async () => {
  const expires_at = inMs(anHour);
  const { clock, vault } = service;
  const theirs = Array.from({ length: 501 }, (_, index) => ({
    id: `theirs-${index}`,
    type: 'token',
    data: 1,
    expires_at,
  }));
  const other = await service.otherTenant();
  for (let from = 0; from < theirs.length; from += 100) {
    const some = theirs.slice(from, from + 100);
    const created = await service.call('POST', '/tokenize', some, { key: other });
    expect(created.status, created.text).toBe(200);
  }
  await create(service, { id: 'ours', type: 'token', data: 1, expires_at: inMs(anHour + 1) });
  const { tenantId = '' } = (await service.service.authenticate(other)) ?? {};
  const attacker = await rowsAttacker(service);
  await attacker.editRecord('tenant', tenantId, { mac: Buffer.alloc(32) });
  await attacker.close();
  clock.advance(2 * anHour);
  await service.service.sweep.run();
  expect(await typesOf('ours')).toEqual(['token.created', 'token.expired']);
  expect(await vault.rows.due(clock.now(), 1)).toEqual([]);
});
