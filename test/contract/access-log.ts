import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AccessEntry, NewAccessEntry } from '#src/events/access-log/access-entry.js';
import { linesOf } from '#src/events/access-log/batch-hash.js';
import { accessTracePlace } from '#src/events/access-log/seal-entries.js';
import { openTrace, pendingTrace } from '#src/events/sealing/trace-ciphertext.js';
import type { AccessFilter, AccessLog } from '#src/ports/access-log.js';
import { entriesOfLines } from '../support/entries-of-line.js';
import { batchCount, verifyAccessChain } from '../support/verify-access-chain.js';
import { aBox, aDay, aHash, atNoon, type OpenStores, onStores } from './support.js';

export const everything: AccessFilter = { entityType: null, entityRef: null, operation: null, from: 0, to: null };
const firstPage = { offset: 0, limit: 100 };
const month = (number: number): number => Date.UTC(2026, number - 1, 1);

/** Defines the tests that every adapter for `AccessLog` must pass. */
export function accessLogContract(name: string, open: OpenStores): void {
  const on = (run: Parameters<typeof onStores>[1]) => onStores(open, run);

  describe(`AccessLog: ${name}`, () => {
    test(
      'returns recorded entries immediately and after a restart, with every field unchanged',
      on(async ({ accessLog, reopen }) => {
        const entries = [anEntry(), anEntry({ ...withoutOptionals, time: atNoon + 1 })];
        await accessLog.record(entries);
        expect(await all(accessLog)).toEqual([...entries].reverse());
        expect(await all((await reopen()).accessLog)).toEqual([...entries].reverse());
      }),
    );

    test(
      'encrypts the traces of entries from several requests, tenants and epochs so that each can be opened',
      on(async ({ accessLog, reopen }) => {
        const keys = { tenant: randomBytes(32), other: randomBytes(32) };
        let epoch = 1;
        const requestOf = (tenantId: keyof typeof keys, count: number): NewAccessEntry[] => {
          const traceId = randomUUID();
          const trace = pendingTrace({ audit: keys[tenantId], traceEpoch: () => epoch }, { traceId, visitor: null });
          // `actorId` repeats the trace id, so that the test can compare the two.
          const shared = { ...anEntry({ tenantId, actorId: traceId, tracePlace: null }), trace };
          return Array.from({ length: count }, () => ({ ...shared, entityRef: aHash() }));
        };
        const requests = [
          requestOf('tenant', 1),
          requestOf('other', 1),
          requestOf('tenant', 3),
          requestOf('tenant', 1),
        ];
        requests.push(requestOf('other', 2), [anEntry(), anEntry({ trace: null })], requestOf('tenant', 1));
        await Promise.all(requests.map((entries) => accessLog.record(entries)));
        // An outage of the access log delays the entries of many requests, which are then recorded by one call.
        await accessLog.record(Array.from({ length: 600 }, () => requestOf('tenant', 1)).flat());
        const before = requestOf('tenant', 1);
        epoch = 2;
        await accessLog.record([...before, ...requestOf('tenant', 1)]);

        const { accessLog: again } = await reopen();
        const ids: string[] = [];
        for (const tenantId of ['tenant', 'other'] as const) {
          const { total, entries } = await again.query(tenantId, everything, { offset: 0, limit: 1_000 });
          expect(entries).toHaveLength(total);
          for (const { trace, traceIndex, actorId, tracePlace } of entries) {
            if (trace === null || tracePlace !== null) continue;
            const place = { tenantId, ...accessTracePlace };
            expect(openTrace(keys[tenantId], trace, place, traceIndex)).toEqual({ traceId: actorId, visitor: null });
            ids.push(actorId);
          }
        }
        expect(ids).toHaveLength(1 + 1 + 3 + 1 + 2 + 1 + 600 + 2);
        expect(new Set(ids).size).toBe(6 + 600 + 2);
        expect(await verifyAccessChain(again)).toMatchObject({ problem: null });
      }),
    );

    test(
      'the head of each chain is its newest batch',
      on(async ({ accessLog, reopen }) => {
        expect(await accessLog.heads(0)).toEqual([]);
        await accessLog.record([anEntry()]);
        await accessLog.record([anEntry(), anEntry()]);
        const again = (await reopen()).accessLog;
        await again.record([anEntry({ time: month(3) })]);
        const newest = await Promise.all(
          (await again.chains()).map(async (chain) => {
            const last = (await again.batches(chain, 0, 1_000)).at(-1);
            return { chain, sequence: last?.sequence, hash: last?.hash };
          }),
        );
        expect(sortedByChain(await again.heads(0))).toEqual(sortedByChain(newest));
        const head = newest.find(({ sequence }) => sequence !== undefined);
        expect(head).toBeDefined();
        expect((await again.heads(month(3))).length).toBe(1);
        expect(await again.heads(month(4))).toEqual([]);
      }),
    );

    test(
      'counts each entry about a token once, by tenant, day, operation and outcome, over all months',
      on(async ({ accessLog }) => {
        const [january, march] = [{ time: month(1) }, { time: month(3) }];
        await accessLog.record([anEntry(january), anEntry(january), anEntry({ ...january, entityType: 'log' })]);
        await accessLog.record([anEntry({ ...march, operation: 'reveal' }), anEntry({ ...march, outcome: 'denied' })]);
        await accessLog.record([anEntry({ ...january, tenantId: 'other' })]);
        const sums = new Map<string, number>();
        for (const { chain, sequence } of await accessLog.heads(0)) {
          for (let after = 0; after < sequence; ) {
            const { last, counts } = await accessLog.counts(chain, after, Math.min(sequence, after + 2));
            expect(last).toBeGreaterThan(after);
            expect(last).toBeLessThanOrEqual(sequence);
            after = last;
            for (const { tenantId, day, operation, outcome, count } of counts) {
              const key = `${tenantId} ${day} ${operation} ${outcome}`;
              sums.set(key, (sums.get(key) ?? 0) + count);
            }
          }
          expect((await accessLog.counts(chain, sequence, sequence + 9)).counts).toEqual([]);
        }
        const [inJanuary, inMarch] = [month(1) / aDay, month(3) / aDay];
        expect(sums).toEqual(
          new Map([
            [`tenant ${inJanuary} read success`, 2],
            [`tenant ${inMarch} reveal success`, 1],
            [`tenant ${inMarch} read denied`, 1],
            [`other ${inJanuary} read success`, 1],
          ]),
        );
      }),
    );

    test(
      'does not return or count entries of another tenant',
      on(async ({ accessLog }) => {
        const ref = aHash();
        await accessLog.record([anEntry({ tenantId: 'other', entityRef: ref }), anEntry({ tenantId: 'other' })]);
        for (const filter of [everything, { ...everything, entityRef: ref }, { ...everything, operation: 'read' }]) {
          expect(await accessLog.query('tenant', filter, firstPage)).toEqual({ total: 0, entries: [] });
        }
      }),
    );

    test(
      'returns exactly the entries that match one filter or all filters together',
      on(async ({ accessLog }) => {
        const [one, other] = [aHash(), aHash()];
        const given = {
          read: anEntry({ entityRef: one, operation: 'read', time: atNoon }),
          deleted: anEntry({ entityRef: one, operation: 'delete', time: atNoon + 1 }),
          others: anEntry({ entityRef: other, operation: 'read', time: atNoon + 2 }),
          key: anEntry({ entityRef: one, entityType: 'key', operation: 'read', time: atNoon + 3 }),
        };
        await accessLog.record(Object.values(given));
        const { read, deleted, others, key } = given;
        const cases: [Partial<AccessFilter>, AccessEntry[]][] = [
          [{}, [key, others, deleted, read]],
          [{ entityRef: one }, [key, deleted, read]],
          [{ entityRef: aHash() }, []],
          [{ operation: 'read' }, [key, others, read]],
          [{ operation: 'never' }, []],
          [{ entityType: 'key' }, [key]],
          [{ entityType: 'never' }, []],
          [{ entityRef: one, operation: 'read', entityType: 'token' }, [read]],
          [{ from: atNoon + 1 }, [key, others, deleted]],
          [{ to: atNoon + 1 }, [read]],
          [{ from: atNoon + 1, to: atNoon + 3, operation: 'read' }, [others]],
          [{ from: atNoon + 3, to: atNoon }, []],
        ];
        for (const [filter, entries] of cases) {
          const found = await accessLog.query('tenant', { ...everything, ...filter }, firstPage);
          expect(found, JSON.stringify(filter)).toEqual({ total: entries.length, entries });
        }
      }),
    );

    test(
      'returns pages from the newest entry on, across months and for entries with equal times, with exact totals',
      on(async ({ accessLog }) => {
        const times = [month(1), month(2) - 1, month(2) - 1, month(2) - 1, month(2), month(3), month(3)];
        const entries = times.map((time, index) => anEntry({ time, message: `entry ${index}` }));
        for (const entry of entries) await accessLog.record([entry]);
        const newestFirst = [...entries].reverse();
        for (const limit of [1, 2, 3, 7, 50]) {
          for (let offset = 0; offset < 9; offset += 1) {
            const found = await accessLog.query('tenant', everything, { offset, limit });
            expect(found, `${offset}, ${limit}`).toEqual({
              total: 7,
              entries: newestFirst.slice(offset, offset + limit),
            });
          }
        }
        const february = { ...everything, from: month(2), to: month(3) };
        expect((await accessLog.query('tenant', february, firstPage)).entries).toEqual([entries[4]]);
      }),
    );

    test(
      'sorts a late entry by its time, and still appends it to the end of the chain',
      on(async ({ accessLog }) => {
        await accessLog.record([anEntry({ time: month(2) })]);
        await accessLog.record([anEntry({ time: month(2) - 1 }), anEntry({ time: month(2) })]);
        const january = { ...everything, from: month(1), to: month(2) };
        expect((await accessLog.query('tenant', january, firstPage)).total).toBe(1);
        expect(await verifyAccessChain(accessLog)).toMatchObject({ problem: null, chains: [{ from: 1, head: 3 }] });
        await accessLog.record([anEntry({ time: month(2) - 1 })]);
        expect(await accessLog.heads(0), 'the newest batch is in an earlier month').toMatchObject([{ sequence: 4 }]);
      }),
    );

    test(
      'stores all concurrent records in a chain of batches without gaps, even across restarts',
      on(async ({ accessLog, reopen }) => {
        const entries = Array.from({ length: 300 }, (_, index) => anEntry({ message: `entry ${index}` }));
        await Promise.all(entries.map((entry) => accessLog.record([entry])));
        const before = await verifyAccessChain(accessLog);
        const { accessLog: again } = await reopen();
        await again.record([anEntry()]);
        expect((await again.query('tenant', everything, firstPage)).total).toBe(301);
        expect(before).toMatchObject({ problem: null, chains: [{ from: 1 }] });
        // After a restart, the log either continues this chain or starts a new one.
        expect(batchCount(await verifyAccessChain(again))).toBe(batchCount(before) + 1);
      }),
    );

    test(
      'stores a single record with very many entries as batches of at most 256 KiB',
      on(async ({ accessLog }) => {
        const entries = Array.from({ length: 2_000 }, () => anEntry({ entityRef: aHash() }));
        await accessLog.record(entries);
        const [chain = ''] = await accessLog.chains();
        const batches = await accessLog.batches(chain, 0, 1_000);
        expect(await accessLog.batches(chain, 1, 1), 'a page').toEqual(batches.slice(1, 2));
        expect(await accessLog.batches('another', 0, 1_000)).toEqual([]);
        expect(batches.flatMap((batch) => batch.entries)).toEqual(entries);
        expect(batches.length).toBeGreaterThan(2);
        for (const batch of batches) {
          expect(linesOf(batch.entries).join('').length).toBeLessThanOrEqual(256 * 1024);
        }
        expect(await verifyAccessChain(accessLog)).toMatchObject({ problem: null });
      }),
    );

    test(
      'the entries of one request are one line, and a query by token returns each of them',
      on(async ({ accessLog }) => {
        const shown = aPage(20, { operation: 'reveal' });
        const masked = aPage(3);
        const page = [...shown, ...masked];
        await accessLog.record(page);
        expect((await linesIn(accessLog)).map(refsIn)).toEqual([shown, masked].map(refsOf));
        expect(await verifyAccessChain(accessLog)).toMatchObject({ problem: null });
        const all = { total: page.length, entries: [...page].reverse() };
        expect(await accessLog.query('tenant', everything, firstPage)).toEqual(all);
        for (const entry of page) {
          const filter = { ...everything, entityRef: entry.entityRef };
          expect(await accessLog.query('tenant', filter, firstPage)).toEqual({ total: 1, entries: [entry] });
        }
      }),
    );

    test(
      'requests whose entries differ only in the trace, or have no trace, do not share a line',
      on(async ({ accessLog }) => {
        const [one, other] = [aPage(2), aPage(2)];
        const untraced = aPage(2, { trace: null });
        await accessLog.record([...one, ...other, ...untraced]);
        const lines = await linesIn(accessLog);
        expect(lines.map(refsIn)).toEqual([...[one, other].map(refsOf), ...untraced.map((entry) => refsOf([entry]))]);
        expect(await verifyAccessChain(accessLog)).toMatchObject({ problem: null });
      }),
    );

    test(
      'the chain is intact even if the entries of one request are recorded by many calls, or in many batches',
      on(async ({ accessLog }) => {
        const [split, long] = [aPage(100), aPage(2_500)];
        await Promise.all(split.map((entry) => accessLog.record([entry])));
        await Promise.all([split.slice(0, 50), split.slice(50), long, long].map((part) => accessLog.record(part)));
        expect(await verifyAccessChain(accessLog)).toMatchObject({ problem: null });
        expect((await accessLog.query('tenant', everything, firstPage)).total).toBe(5_200);
        for (const line of await linesIn(accessLog)) expect(refsIn(line).length).toBeLessThanOrEqual(1_000);
      }),
    );

    test(
      'deletes only whole months, and the chain is intact from its new start, even if no entry is left',
      on(async ({ accessLog, reopen }) => {
        for (const number of [1, 2, 3]) await accessLog.record([anEntry({ time: month(number) })]);
        expect(await accessLog.dropMonths(month(1) + 1, month(14))).toBe(0);
        expect(await accessLog.dropMonths(month(3) - 1, month(15))).toBe(1);
        expect((await all(accessLog)).map(({ time }) => time)).toEqual([month(3), month(2)]);
        expect(await verifyAccessChain(accessLog, { hasDropped: true })).toMatchObject({
          problem: null,
          chains: [{ from: 2, head: 3 }],
        });
        expect(await accessLog.dropMonths(month(12), month(25))).toBe(2);
        expect(await all(accessLog)).toEqual([]);
        await accessLog.record([anEntry({ time: month(4) })]);
        expect(await verifyAccessChain(accessLog, { hasDropped: true })).toMatchObject({
          problem: null,
          chains: [{ from: 4, head: 4 }],
        });
        expect(await all((await reopen()).accessLog)).toHaveLength(1);
      }),
    );

    test(
      'resolves immediately for a record without entries',
      on(async ({ accessLog }) => {
        await accessLog.record([]);
        expect(await accessLog.chains()).toEqual([]);
      }),
    );
  });
}

const withoutOptionals: Partial<AccessEntry> = {
  actorType: 'system',
  keyId: null,
  sourceAddress: null,
  entityRef: null,
  entityId: null,
  trace: null,
  tracePlace: null,
};

export function anEntry(given: Partial<AccessEntry> = {}): AccessEntry {
  return {
    tenantId: 'tenant',
    time: atNoon,
    actorId: randomUUID(),
    actorType: 'application',
    keyId: randomUUID(),
    sourceAddress: '2001:db8::1',
    entityType: 'token',
    entityRef: aHash(),
    entityId: 'an id',
    operation: 'read',
    outcome: 'success',
    message: 'token read',
    trace: aBox(),
    traceIndex: null,
    tracePlace: { stream: `token-${randomBytes(4).toString('hex')}`, revision: 3 },
    ...given,
  };
}

/** Returns the entries of one request. They differ only in `entityRef`. */
function aPage(count: number, given: Partial<AccessEntry> = {}): AccessEntry[] {
  const shared = anEntry({ entityId: null, tracePlace: null, ...given });
  return Array.from({ length: count }, () => ({ ...shared, entityRef: aHash() }));
}

/** Returns the lines of all batches. */
async function linesIn(log: AccessLog): Promise<string[]> {
  const lines: string[] = [];
  for (const chain of await log.chains()) {
    for (const { entries } of await log.batches(chain, 0, 1_000)) lines.push(...linesOf(entries));
  }
  return lines;
}

function refsIn(line: string) {
  return refsOf(entriesOfLines([line]));
}

function refsOf(entries: readonly AccessEntry[]) {
  return entries.map(({ entityRef }) => entityRef);
}

async function all(log: AccessLog): Promise<readonly AccessEntry[]> {
  return (await log.query('tenant', everything, firstPage)).entries;
}

function sortedByChain<T extends { readonly chain: string }>(heads: readonly T[]): readonly T[] {
  return [...heads].sort((one, other) => (one.chain < other.chain ? -1 : 1));
}
