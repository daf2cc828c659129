import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { createSweep } from '#src/jobs/sweep.js';
import { aCard, anHour, create, streamOf } from '../erasure/support.js';
import { type ManualClock, manualClock } from '../support/manual-clock.js';
import { tempDir } from '../support/process.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService, type TestService } from '../support/test-service.js';

const aDay = 24 * anHour;
const tenYears = 3_653 * aDay;
const why = 'a process of a cluster trusts MongoDB, see test/compose/cluster-clock.test.ts';

/** Creates a vault that can be restarted on the same data. The clock continues to run during a restart. */
async function vaultOn(clock: ManualClock) {
  const dataDir = join(tempDir(), 'data');
  const first = await startTestService({ dataDir, clock });
  const { key, rootKey } = first;
  let service = first;
  onTestFinished(() => service.stop());
  return {
    get: () => service,
    /** Stops the vault, runs `meanwhile`, and starts the vault again. */
    async restart(meanwhile: () => void = () => undefined): Promise<TestService> {
      await service.stop();
      meanwhile();
      service = await startTestService({ dataDir, clock, rootKey });
      return service;
    },
    as: { key },
  };
}

/** Adds fractions of a millisecond to the monotonic time, as a machine has them. */
function fractional(clock: ManualClock): ManualClock {
  let reads = 0;
  function steady(): number {
    reads += 1;
    return (clock.steady?.() ?? 0) + (reads % 3) / 3;
  }
  return { ...clock, steady };
}

const inMs = (clock: ManualClock, ms: number) => new Date(clock.now() + ms).toISOString();

async function typesOf(service: TestService, stream: string): Promise<string[]> {
  return (await service.vault.log.readStream(stream)).map(({ type }) => type);
}

/** Runs a complete round of the sweep, including housekeeping. Returns the time up to which it forgot tombstones. */
async function fullRound(service: TestService): Promise<number | undefined> {
  const forgotten: number[] = [];
  const errors: unknown[] = [];
  const sweep = createSweep(
    service.vault,
    async (before) => forgotten.push(before),
    (error) => errors.push(error),
  );
  sweep.start();
  await sweep.stop();
  expect(errors).toEqual([]);
  expect(forgotten).toHaveLength(1);
  return forgotten[0];
}

const months = ({ dataDir }: TestService) =>
  readdirSync(dataDir).filter((name) => name.startsWith('access-') && name.endsWith('.db'));

test('if the clock is ten years ahead at a start, tokens that seem due are hidden, and nothing is destroyed until the clock is right', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { restart, get, as } = await vaultOn(clock);
  const brief = await create(get(), { type: 'token', data: 'brief', expires_at: inMs(clock, 30 * aDay) });
  const lasting = await create(get(), { type: 'token', data: 'lasting' });
  const card = await create(get(), aCard());
  const streams = await Promise.all([brief, card].map((id) => streamOf(get(), id)));
  expect(await get().call('GET', `/tokens/${lasting}`)).toMatchObject({ status: 200 });
  const createOnce = () =>
    get().call('POST', '/tokens', { type: 'token', data: 'once' }, { ...as, headers: { 'idempotency-key': 'once' } });
  const once = (await createOnce()).body['id'];
  const { tenantId } = get();
  const { id: unnamedKey } = await get().vault.keys.create(tenantId);
  // A background thread writes the month files, so they appear with a delay.
  await expect.poll(() => months(get())).not.toEqual([]);
  const before = months(get());

  const realTime = clock.now();
  const wrong = await restart(() => clock.advance(tenYears));
  expect(await fullRound(wrong)).toBeLessThan(realTime);
  expect(await wrong.vault.keys.use(tenantId, unnamedKey, () => 0)).toMatchObject({ state: 'open' });
  expect(await wrong.call('GET', `/tokens/${brief}`, undefined, as)).toMatchObject({ status: 404 });
  const again = { id: brief, type: 'token', data: 'again' };
  expect(await wrong.call('POST', '/tokens', again, as)).toMatchObject({ status: 409 });
  expect((await wrong.call('GET', `/tokens/${card}`, undefined, as)).body['data']).not.toHaveProperty('cvc');
  expect(await wrong.call('GET', `/tokens/${lasting}`, undefined, as)).toMatchObject({ status: 200 });
  for (const stream of streams) expect(await typesOf(wrong, stream)).toEqual(['token.created']);
  expect(months(wrong)).toEqual(expect.arrayContaining(before));
  const state = await wrong.service.state();
  expect(state).toMatchObject({
    reasons: [],
    notices: [
      {
        check: 'clock',
        says: expect.stringMatching(/nothing is destroyed until the service has run for another 1,440 minutes/),
      },
    ],
  });

  const right = await restart(() => clock.advance(60_000 - tenYears));
  await fullRound(right);
  expect(await right.service.state()).toMatchObject({ notices: [] });
  expect(await right.call('GET', `/tokens/${brief}`, undefined, as)).toMatchObject({ status: 200 });
  expect((await createOnce()).body['id']).toBe(once);
  for (const stream of streams.slice(0, 1)) expect(await typesOf(right, stream)).toEqual(['token.created']);
});

test('a retry returns the result of a request that was made while the clock was a year behind', async (context) => {
  embeddedOnly(context, why);
  const clock = fractional(manualClock());
  const { restart, get, as } = await vaultOn(clock);
  const { managementKey } = get();
  const wrong = await restart(() => clock.step(-365 * aDay));
  const requests = [
    ['/tokens', { type: 'token', data: 'once' }, as],
    ['/applications', { name: 'once', type: 'public', permissions: ['token:create'] }, { key: managementKey }],
  ] as const;
  const made = () =>
    Promise.all(
      requests.map(async ([path, body, { key }], index) => {
        const headers = { 'idempotency-key': `request-${index}` };
        const { status, body: answer } = await wrong.call('POST', path, body, { key, headers });
        expect(status).toBe(201);
        return answer['id'];
      }),
    );
  const first = await made();
  clock.step(365 * aDay);
  expect(await wrong.service.state()).toMatchObject({ notices: [] });
  await fullRound(wrong);
  expect(await made()).toEqual(first);
});

test('after running for 24 hours, the vault trusts its clock, and restarts neither shorten this period nor begin it again', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { restart, get } = await vaultOn(clock);
  const id = await create(get(), { type: 'token', data: 'brief', expires_at: inMs(clock, aDay) });
  const stream = await streamOf(get(), id);
  let service = await restart(() => clock.advance(8 * aDay));
  for (let ranHours = 0; ranHours < 24; ranHours += 6) {
    await fullRound(service);
    expect(await typesOf(service, stream), `after ${ranHours} hours`).toEqual(['token.created']);
    clock.advance(6 * anHour);
    // The time during which the vault is stopped does not count toward the 24 hours.
    if (ranHours === 12) service = await restart(() => clock.advance(2 * aDay));
  }
  await fullRound(service);
  expect(await typesOf(service, stream)).toEqual(['token.created', 'token.expired']);
  expect(await service.service.state()).toMatchObject({ notices: [] });
});

test('after a stop of 7 days, the vault continues at once; after 8 days, it continues once an operator confirms the clock', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { restart, get } = await vaultOn(clock);
  const [early, late] = await Promise.all(
    [aDay, 10 * aDay].map((ms) => create(get(), { type: 'token', data: 'x', expires_at: inMs(clock, ms) })),
  );
  const streams = await Promise.all([early, late].map((id) => streamOf(get(), id ?? '')));
  const ended = async (service: TestService) =>
    (await Promise.all(streams.map((stream) => typesOf(service, stream)))).map((types) =>
      types.includes('token.expired'),
    );
  const week = await restart(() => clock.advance(7 * aDay));
  await fullRound(week);
  expect(await ended(week)).toEqual([true, false]);
  const longer = await restart(() => clock.advance(8 * aDay));
  await fullRound(longer);
  expect(await ended(longer)).toEqual([true, false]);
  expect(await longer.service.confirmClock()).toBe('confirmed');
  await fullRound(longer);
  expect(await ended(longer)).toEqual([true, true]);
  expect(await longer.service.confirmClock()).toBe('trusted');
  // The confirmation is stored durably.
  expect(await (await restart()).service.state()).toMatchObject({ notices: [] });
});

test('if the clock steps ahead by more than one hour, nothing is destroyed; once it steps back, destruction is allowed again', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { get, restart } = await vaultOn(clock);
  const id = await create(get(), { type: 'token', data: 'brief', expires_at: inMs(clock, 2 * anHour) });
  const stream = await streamOf(get(), id);
  clock.step(3 * anHour);
  await fullRound(get());
  expect(await get().call('GET', `/tokens/${id}`)).toMatchObject({ status: 404 });
  expect(await typesOf(get(), stream)).toEqual(['token.created']);
  expect((await get().service.state()).notices).toHaveLength(1);
  // A second step ahead restarts the 24 hours. The vault does not trust the time before this step, because that time
  // was wrong too.
  clock.advance(23 * anHour);
  clock.step(tenYears);
  clock.advance(2 * anHour);
  await fullRound(get());
  expect(await typesOf(get(), stream)).toEqual(['token.created']);
  clock.step(-tenYears - 3 * anHour);
  expect(await get().service.state()).toMatchObject({ notices: [] });
  await fullRound(get());
  // The token is due by the correct clock too.
  expect(await typesOf(get(), stream)).toEqual(['token.created', 'token.expired']);
  await restart();
});

test('a restart does not end a hold that began with a step ahead of less than 7 days, unless the clock was corrected', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { get, restart } = await vaultOn(clock);
  const id = await create(get(), { type: 'token', data: 'brief', expires_at: inMs(clock, 2 * anHour) });
  const stream = await streamOf(get(), id);
  clock.step(3 * anHour);
  await fullRound(get());
  for (const stopped of [0, anHour, 4 * anHour]) {
    const service = await restart(() => clock.advance(stopped));
    await fullRound(service);
    expect(await typesOf(service, stream), `after a stop of ${stopped} ms`).toEqual(['token.created']);
    expect((await service.service.state()).notices).toHaveLength(1);
  }
  // The restarts do not repeat the part of the hold that has passed.
  clock.advance(23 * anHour);
  const nearlyOver = await restart();
  await fullRound(nearlyOver);
  expect(await typesOf(nearlyOver, stream)).toEqual(['token.created']);
  clock.advance(anHour);
  await fullRound(nearlyOver);
  expect(await typesOf(nearlyOver, stream)).toEqual(['token.created', 'token.expired']);
  clock.step(3 * anHour);
  expect((await nearlyOver.service.state()).notices).toHaveLength(1);
  const corrected = await restart(() => clock.step(60_000 - 3 * anHour));
  expect(await corrected.service.state()).toMatchObject({ notices: [] });
});

test('a hold that began with a step back ends at a restart that finds the clock corrected', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { get, restart } = await vaultOn(clock);
  clock.step(-3 * anHour);
  expect((await get().service.state()).notices).toHaveLength(1);
  clock.advance(anHour);
  expect((await (await restart()).service.state()).notices).toHaveLength(1);
  const corrected = await restart(() => clock.step(3 * anHour + 60_000));
  expect(await corrected.service.state()).toMatchObject({ notices: [] });
});

test('deduplication ignores tokens that are hidden because the clock was set back', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { get } = await vaultOn(clock);
  const brief = await create(get(), { type: 'token', data: 'v', expires_at: inMs(clock, anHour) });
  clock.step(-2 * anHour);
  expect((await get().service.state()).notices).toHaveLength(1);
  clock.advance(anHour + 60_000);
  expect(await get().call('GET', `/tokens/${brief}`)).toMatchObject({ status: 404 });
  const other = await create(get(), { type: 'token', data: 'w' });
  const change = { data: 'v', deduplicate_token: true };
  const patched = await get().call('PATCH', `/tokens/${other}`, change);
  expect(patched, patched.text).toMatchObject({ status: 200, body: { id: other } });
  await get().call('DELETE', `/tokens/${other}`);
  const created = await get().call('POST', '/tokens', { type: 'token', ...change });
  expect(created, created.text).toMatchObject({ status: 201 });
  expect(created.body).not.toHaveProperty('_extras');
});

test('an id is not charged as unknown if its token is hidden because the clock was set back, but is deleted', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const limits = { requests: 1_000, windowMs: 10_000, authFailures: 0, keylessRequests: 0, deduplicationMisses: 0 };
  const service = await startTestService({ clock, limits: { ...limits, guesses: 1 } });
  onTestFinished(() => service.close());
  const brief = () => create(service, { type: 'token', data: 'x', expires_at: inMs(clock, anHour) });
  const ids = [await brief(), await brief()];
  clock.step(-2 * anHour);
  expect((await service.service.state()).notices).toHaveLength(1);
  clock.advance(anHour + 60_000);
  const deleted = await service.call('POST', '/tokens/delete', { ids });
  expect(deleted, deleted.text).toMatchObject({ status: 200, body: { deleted: 2 } });
});

test('nothing is suggested from a token that is hidden because the clock was set back', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { get } = await vaultOn(clock);
  const metadata = { zebra: 'x' };
  await create(get(), { type: 'token', data: 'x', metadata, expires_at: inMs(clock, anHour) });
  clock.step(-2 * anHour);
  expect((await get().service.state()).notices).toHaveLength(1);
  clock.advance(anHour + 60_000);
  const suggested = await get().call('GET', '/tokens/search/suggestions?prefix=metadata.z');
  expect(suggested, suggested.text).toMatchObject({ status: 200 });
  expect(suggested.text).not.toContain('zebra');
});

test('an application that has expired stays expired if the clock is set back', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { get } = await vaultOn(clock);
  const { managementKey } = get();
  const body = {
    name: 'brief',
    type: 'management',
    permissions: ['application:read'],
    expires_at: inMs(clock, anHour),
  };
  const { body: made } = await get().call('POST', '/applications', body, { key: managementKey });
  const key = String(made['key']);
  const status = async () => (await get().call('GET', '/applications', undefined, { key })).status;
  expect(await status()).toBe(200);
  clock.advance(anHour + 60_000);
  expect(await status()).toBe(401);
  clock.step(-2 * anHour);
  expect(await status()).toBe(401);
  clock.step(2 * anHour);
  expect(await status()).toBe(401);
});

test('keys can be rotated after the clock was stepped', async (context) => {
  embeddedOnly(context, why);
  const { get } = await vaultOn(fractional(manualClock()));
  get().clock.step(2 * anHour);
  expect((await get().service.state()).notices).toHaveLength(1);
  const { rotation } = get().vault.keys;
  await rotation.begin(await rotation.rootCheck());
});

test('a step of less than one hour counts as a normal adjustment', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { get } = await vaultOn(clock);
  const id = await create(get(), { type: 'token', data: 'brief', expires_at: inMs(clock, anHour / 2) });
  clock.step(anHour - 1);
  await fullRound(get());
  expect(await typesOf(get(), await streamOf(get(), id))).toEqual(['token.created', 'token.expired']);
});

for (const back of [5_000, anHour / 2, 3 * aDay]) {
  test(`if the clock is set back by ${back} ms while the vault runs, a code does not live for more than its hour`, async (context) => {
    embeddedOnly(context, why);
    const clock = manualClock();
    const { get } = await vaultOn(clock);
    const id = await create(get(), aCard());
    const cvc = async () => ((await get().call('GET', `/tokens/${id}`)).body['data'] as { cvc?: string }).cvc;
    clock.advance(anHour / 2);
    expect(await cvc()).toBe('123');
    clock.step(-back);
    expect(await cvc()).toBe('123');
    clock.advance(anHour / 2 - 1);
    expect(await cvc()).toBe('123');
    clock.advance(1);
    expect(await cvc()).toBeUndefined();
    // A long step begins a hold, during which nothing is destroyed.
    await fullRound(get());
    const purged = back > anHour ? [] : ['token.property.expired'];
    expect(await typesOf(get(), await streamOf(get(), id))).toEqual(['token.created', ...purged]);
    // A code that is stored after the step lives for exactly one hour.
    await get().call('PATCH', `/tokens/${id}`, { data: { cvc: '456' } });
    clock.advance(anHour - 1);
    expect(await cvc()).toBe('456');
    clock.advance(1);
    expect(await cvc()).toBeUndefined();
  });
}

for (const back of [5_000, 30 * 60_000, tenYears]) {
  test(`if a start finds the clock ${back} ms behind the newest event, it shows no older code`, async (context) => {
    embeddedOnly(context, why);
    const clock = manualClock();
    const { get, restart, as } = await vaultOn(clock);
    clock.advance(50_000);
    const id = await create(get(), aCard());
    const { dataDir } = get();
    const service = await restart(() => {
      clock.advance(-back);
      // Makes the newest event later than the last recorded time. A crash would leave this state.
      const keys = pinStatements(join(dataDir, 'keys.db'), {});
      const newest = clock.now() + back - 50_000;
      const record = Buffer.from(JSON.stringify({ newest, codesAhead: 0, hold: null }));
      keys.prepare(`UPDATE meta SET value = ? WHERE name = 'clock'`).run(record);
      keys.close();
    });
    const shown = async () =>
      ((await service.call('GET', `/tokens/${id}`, undefined, as)).body['data'] as { cvc?: string }).cvc;
    expect(await shown()).toBeUndefined();
    clock.advance(back);
    expect(await shown()).toBeUndefined();
    const other = await create(service, aCard());
    const { body } = await service.call('GET', `/tokens/${other}`);
    expect(body['data']).toMatchObject({ cvc: '123' });
  });
}

test('the key store durably records the time of the clock', async (context) => {
  embeddedOnly(context, why);
  const clock = manualClock();
  const { get, restart } = await vaultOn(clock);
  get().service.start();
  clock.advance(aDay);
  await restart();
  const keys = pinStatements(join(get().dataDir, 'keys.db'), { readonly: true });
  const stored = keys.prepare(`SELECT value FROM meta WHERE name = 'clock'`).pluck().get() as Buffer;
  keys.close();
  expect(JSON.parse(stored.toString('utf8'))).toEqual({ newest: clock.now(), codesAhead: 0, hold: null });
});
