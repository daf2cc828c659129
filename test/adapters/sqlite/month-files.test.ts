import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { monthFile } from '#src/adapters/sqlite/access-log/month-files.js';
import { openMonthReader } from '#src/adapters/sqlite/access-log/month-reader.js';
import { openMonthWriter } from '#src/adapters/sqlite/access-log/month-writer.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import type { AccessFilter } from '#src/ports/access-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { tempDir } from '../../support/process.js';
import { canMount, smallDisk } from '../../support/small-disk.js';

const month = '2026-01';
const start = Date.UTC(2026, 0, 1);
const entriesMax = 70_000;
const operations = ['reveal', 'read', 'update'] as const;

const refs = Array.from({ length: 500 }, (_, i) => createHash('sha256').update(String(i)).digest('hex'));
const always: AccessFilter = { entityType: null, entityRef: null, operation: null, from: start, to: null };

/**
 * Entries in the order in which they were recorded. Their times are not in this order, and many are equal. Some entries
 * have no reference. The actor's name shows which entry it is.
 */
const entries = Array.from({ length: entriesMax }, (_, i) => ({
  tenantId: i % 11 === 0 ? 'another' : 'one',
  time: start + Math.floor((i + ((i * 7_919) % 60_000)) / 1_000),
  entityRef: i % 50 === 0 ? null : (refs[(i * 31) % refs.length] ?? null),
  operation: operations[i % operations.length] ?? 'read',
  actorId: `entry ${i}`,
}));

function lineOf({ entityRef, ...entry }: (typeof entries)[number]) {
  const actor = { actorType: 'application', keyId: null, sourceAddress: null } as const;
  const entity = { entityType: 'token', entityId: null, outcome: 'success', message: '' } as const;
  return {
    shared: { ...entry, ...actor, ...entity, trace: null, traceIndex: null, tracePlace: null },
    refs: [entityRef],
  };
}

test('queries by reference find the entries of all parts of a large month, in order and with exact totals', () => {
  const dataDir = tempDir();
  const writer = openMonthWriter(dataDir, month);
  for (let from = 0; from < entriesMax; from += 10_000) {
    const lines = entries.slice(from, from + 10_000).map(lineOf);
    writer.append([{ sequence: from + 1, previous: Buffer.alloc(32), hash: Buffer.alloc(32), lines }]);
  }
  writer.close();
  const reader = openMonthReader(dataDir, month);
  const model = entries.map((entry, id) => ({ ...entry, id })).sort((a, b) => b.time - a.time || b.id - a.id);
  const [one = null, other = null] = refs;
  for (const filter of [
    { ...always, entityRef: one },
    { ...always, entityRef: other, operation: 'read' as const },
    { ...always, entityRef: one, entityType: 'token' as const, from: start + 40, to: start + 90 },
    { ...always, entityRef: one, from: start + 20 * entriesMax },
    { ...always, entityRef: '0'.repeat(64) },
    { ...always, operation: 'update' as const },
    always,
  ]) {
    const { entityRef, operation, from, to } = filter;
    const expected = model.filter(
      (entry) =>
        entry.tenantId === 'one' &&
        (entityRef === null || entry.entityRef === entityRef) &&
        (operation === null || entry.operation === operation) &&
        entry.time >= from &&
        (to === null || entry.time < to),
    );
    for (const [offset, limit] of [
      [0, 20],
      [95, 100],
      [Math.max(0, expected.length - 3), 20],
      [expected.length, 20],
    ] as const) {
      const found = reader.query('one', filter, offset, limit);
      expect(found.total).toBe(expected.length);
      const shown = found.entries.map(({ actorId }) => actorId);
      const page = expected.slice(offset, offset + limit);
      expect(shown).toEqual(page.map(({ actorId }) => actorId));
    }
  }
  reader.close();
});

test('after batches that could not be stored, the next ones do not refer to their words and traces', () => {
  const dataDir = tempDir();
  const writer = openMonthWriter(dataDir, month);
  const trace = Buffer.from('traces of two entries');
  const line = (actorId: string, traceIndex: number | null) => {
    const { shared } = lineOf({ tenantId: 'one', time: start, entityRef: null, operation: 'read', actorId });
    return { shared: { ...shared, trace: traceIndex === null ? null : trace, traceIndex }, refs: [null] };
  };
  const batch = (sequence: number, lines: ReturnType<typeof line>[]) => {
    return { sequence, previous: Buffer.alloc(32), hash: Buffer.alloc(32), lines };
  };
  expect(() => writer.append([batch(1, [line('first', 0)]), batch(1, [line('second', 1)])])).toThrow();
  writer.append([batch(1, [line('second', null), line('first', 0), line('second', 1)])]);
  writer.close();
  const reader = openMonthReader(dataDir, month);
  const found = reader.query('one', always, 0, 20).entries;
  expect(found.map(({ actorId, trace: stored }) => [actorId, stored])).toEqual([
    ['second', trace],
    ['first', trace],
    ['second', null],
  ]);
  reader.close();
});

test('a query ends, even if an attacker adds entries with ids that are far apart', () => {
  const dataDir = tempDir();
  const writer = openMonthWriter(dataDir, month);
  const lines = entries.slice(1, 10).map(lineOf);
  writer.append([{ sequence: 1, previous: Buffer.alloc(32), hash: Buffer.alloc(32), lines }]);
  writer.close();
  const database = pinStatements(join(dataDir, monthFile(month)), {});
  const columns = 'batch, tenant, time, actor, actor_type, entity_type, ref, operation, outcome, message';
  for (const id of [-(2n ** 62n), -1n, 2n ** 62n]) {
    database.exec(`INSERT INTO entries (id, ${columns}) SELECT ${id}, ${columns} FROM entries WHERE id = 1`);
  }
  database.close();
  const reader = openMonthReader(dataDir, month);
  const { entityRef } = entries[1] ?? { entityRef: null };
  expect(reader.query('one', { ...always, entityRef }, 0, 20).total).toBe(4);
  reader.close();
});

test.runIf(canMount)('a month’s file that could not be created on a full disk is created once there is space', () => {
  const { dir, fill, free } = smallDisk(1024 * 1024);
  for (let pages = 0; pages < 40; pages += 1) {
    const of = `20${pages + 10}-01`;
    fill(pages * 4096);
    try {
      openMonthWriter(dir, of).close();
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailable);
    }
    free();
    const writer = openMonthWriter(dir, of);
    writer.append([{ sequence: 1, previous: Buffer.alloc(32), hash: Buffer.alloc(32), lines: [] }]);
    expect(writer.newest()).toBe(1);
    writer.close();
    for (const name of readdirSync(dir)) rmSync(join(dir, name));
  }
});
