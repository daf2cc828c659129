import { describe, expect, test } from 'vitest';
import type { PlanNode } from '#src/ports/search-plan.js';
import type { TokenRows } from '#src/ports/token-rows.js';
import {
  anEvent,
  atNoon,
  change,
  noTokenYet,
  type OpenStores,
  onStores,
  tokenCreated,
  tokenDeleted,
  tokenUpdated,
  tokenWrite,
} from './support.js';

/** Pads a name to the size of a search term: 16 bytes in hex. */
function term(name: string): string {
  return Buffer.from(name.padEnd(16)).toString('hex');
}

function has(name: string): PlanNode {
  return { kind: 'term', term: term(name) };
}

const everything: PlanNode = { kind: 'and', of: [] };
const nothing: PlanNode = { kind: 'or', of: [] };
const page = { now: atNoon, offset: 0, limit: 10 };

async function find(rows: TokenRows, where: PlanNode, given: Partial<typeof page> = {}, tenantId = 'tenant') {
  const found = await rows.search(
    { tenantId, generation: 1, all: term(`all-${tenantId}`), where },
    { ...page, ...given },
  );
  return { total: found.total, streams: found.rows.map(({ stream }) => stream) };
}

function terms(...names: readonly string[]) {
  return { fingerprintHash: term('fingerprint'), terms: ['all-tenant', ...names].map(term) };
}

/** Defines the search tests that every adapter for `TokenRows` must pass. */
export function tokenRowsSearchContract(name: string, open: OpenStores): void {
  const on = (run: Parameters<typeof onStores>[1]) => onStores(open, run);

  describe(`TokenRows: ${name}, search`, () => {
    test(
      'a plan finds exactly the rows with its terms and dates, newest first, even after a restart',
      on(async ({ work, rows, reopen }) => {
        const created = async (at: number, ...names: readonly string[]) => {
          const events = [{ ...tokenCreated(), time: at }];
          const write = tokenWrite(noTokenYet(), events, { index: terms(...names) });
          await work.commit(change(write));
          return write;
        };
        const a = await created(atNoon, 'red', 'small');
        const b = await created(atNoon - 1, 'red');
        const c = await created(atNoon + 1, 'small');
        const update = { ...tokenUpdated(), time: atNoon + 5 };
        await work.commit(change(tokenWrite(a.view, [update], { index: terms('red', 'small', 'new') })));
        const [A, B, C] = [a.stream, b.stream, c.stream];
        const date = (column: 'created_at' | 'modified_at', from: number | null, to: number | null): PlanNode => ({
          kind: 'date',
          column,
          from,
          to,
        });
        const plans: readonly (readonly [PlanNode, readonly string[]])[] = [
          [everything, [C, B, A]],
          [nothing, []],
          [has('red'), [B, A]],
          [has('new'), [A]],
          [has('unknown'), []],
          [{ kind: 'not', of: has('red') }, [C]],
          [{ kind: 'not', of: has('unknown') }, [C, B, A]],
          [{ kind: 'and', of: [has('red'), has('small')] }, [A]],
          [{ kind: 'and', of: [has('red'), has('red')] }, [B, A]],
          [{ kind: 'or', of: [has('red'), has('small')] }, [C, B, A]],
          [{ kind: 'or', of: [has('new'), { kind: 'not', of: has('red') }] }, [C, A]],
          [{ kind: 'and', of: [has('red'), { kind: 'not', of: has('small') }] }, [B]],
          [date('created_at', atNoon, null), [C, A]],
          [date('created_at', null, atNoon), [B]],
          [date('created_at', atNoon, atNoon + 1), [A]],
          [date('created_at', atNoon, atNoon), []],
          [date('modified_at', null, null), [A]],
          [{ kind: 'not', of: date('modified_at', null, null) }, [C, B]],
          [{ kind: 'and', of: [has('small'), date('created_at', null, atNoon + 1)] }, [A]],
        ];
        const reopened = async () => (await reopen()).rows;
        for (const store of [async () => rows, reopened]) {
          const opened = await store();
          for (const [where, streams] of plans) {
            expect(await find(opened, where), JSON.stringify(where)).toEqual({ total: streams.length, streams });
          }
        }
      }),
    );

    test(
      'a page contains rows up to a number of bytes, but at least one row, and names the tokens that it leaves out',
      on(async ({ work, rows }) => {
        const made = [];
        for (let i = 0; i < 4; i += 1) {
          const write = tokenWrite(noTokenYet(), [tokenCreated()], { index: terms('red') });
          await work.commit(change(write));
          made.unshift(write);
        }
        const bytes = made[0]?.view.content?.length ?? 0;
        expect(bytes).toBeGreaterThan(0);
        const plan = { tenantId: 'tenant', generation: 1, all: term('all-tenant'), where: has('red') };
        for (const [contentBytesMax, held] of [
          [0, 1],
          [2 * bytes - 1, 1],
          [2 * bytes, 2],
          [4 * bytes, 4],
        ] as const) {
          const found = await rows.search(plan, { ...page, contentBytesMax });
          expect(found.total).toBe(4);
          expect(found.rows.map(({ stream }) => stream)).toEqual(made.slice(0, held).map(({ stream }) => stream));
          expect(found.later).toEqual(
            made.slice(held).map(({ stream }) => ({ stream, createdRevision: 0, revision: 0 })),
          );
        }
        expect(await rows.search(plan, page)).toMatchObject({ total: 4, later: [] });
      }),
    );

    test(
      'pages end at the total, and neither a page nor the total includes due rows',
      on(async ({ work, rows }) => {
        const streams: string[] = [];
        for (let i = 0; i < 5; i += 1) {
          const created = tokenCreated(i === 2 ? { expiresAt: atNoon + 1 } : {});
          const write = tokenWrite(noTokenYet(), [created], { index: terms('red') });
          await work.commit(change(write));
          streams.unshift(write.stream);
        }
        const living = streams.filter((_, i) => i !== 2);
        for (const where of [everything, has('red'), { kind: 'not', of: has('blue') } as const]) {
          expect(await find(rows, where, { offset: 1, limit: 2 })).toEqual({ total: 5, streams: streams.slice(1, 3) });
          expect(await find(rows, where, { offset: 5, limit: 2 })).toEqual({ total: 5, streams: [] });
          expect(await find(rows, where, { now: atNoon + 1 })).toEqual({ total: 4, streams: living });
        }
      }),
    );

    test(
      'an update replaces the terms, `keep` keeps them, a removal deletes them, and the next life starts without terms',
      on(async ({ work, rows }) => {
        const first = tokenWrite(noTokenYet(), [tokenCreated()], { index: terms('old', 'both') });
        await work.commit(change(first));
        const other = tokenWrite(noTokenYet(), [tokenCreated()], { index: terms('both') });
        await work.commit(change(other));
        const updated = tokenWrite(first.view, [tokenUpdated()], { index: terms('both', 'new') });
        await work.commit(change(updated));
        const purge = { property: 'cvc', reason: 'request', due_at: 0, ends: [] };
        const purged = anEvent({ type: 'token.property.expired', clear: purge });
        const kept = tokenWrite(updated.view, [purged], { index: 'keep' });
        await work.commit(change(kept));
        expect((await find(rows, has('old'))).streams).toEqual([]);
        expect((await find(rows, has('new'))).streams).toEqual([first.stream]);
        expect((await find(rows, has('both'))).streams).toEqual([other.stream, first.stream]);
        const removed = tokenWrite(kept.view, [tokenDeleted()], { index: 'keep' });
        await work.commit(change(removed));
        expect(await find(rows, has('both'))).toEqual({ total: 1, streams: [other.stream] });
        expect(await find(rows, has('new'))).toEqual({ total: 0, streams: [] });
        await work.commit(change(tokenWrite(removed.view, [tokenCreated()], { index: terms('both') })));
        expect((await find(rows, has('both'))).streams).toEqual([first.stream, other.stream]);
      }),
    );

    test(
      'a walk returns every row that lives throughout the walk exactly once, whatever is written meanwhile',
      on(async ({ work, rows }) => {
        const create = async (...names: readonly string[]) => {
          const write = tokenWrite(noTokenYet(), [tokenCreated()], { index: terms(...names) });
          await work.commit(change(write));
          return write;
        };
        const made = [];
        for (let i = 0; i < 9; i += 1) made.push(await create('red', i % 3 === 0 ? 'blue' : 'green'));
        const [, second, third] = made;
        const expired = tokenWrite(noTokenYet(), [tokenCreated({ expiresAt: atNoon })], { index: terms('red') });
        await work.commit(change(expired));
        const walk = async (where: PlanNode, between: () => Promise<void>): Promise<string[]> => {
          const met: string[] = [];
          for (let before: number | null = null; ; ) {
            const plan = { tenantId: 'tenant', generation: 1, all: term('all-tenant'), where };
            const step = await rows.walk(plan, { now: atNoon, before, limit: 2 });
            met.push(...step.map(({ stream }) => stream));
            before = step.at(-1)?.state.life?.createdPosition ?? null;
            if (step.length < 2 || before === null) return met;
            await between();
          }
        };
        const streams = made.map(({ stream }) => stream).reverse();
        for (const where of [everything, has('red')]) {
          const met = await walk(where, () => create('red').then(() => undefined));
          expect(met.slice(-9)).toEqual(streams);
          expect(new Set(met).size).toBe(met.length);
        }
        expect(await walk({ kind: 'and', of: [has('red'), has('blue')] }, async () => undefined)).toEqual(
          streams.filter((_, i) => i % 3 === 2),
        );
        expect(await walk({ kind: 'not', of: has('red') }, async () => undefined)).toEqual([]);
        expect(await walk(nothing, async () => undefined)).toEqual([]);

        // While the walk runs, an updated token keeps its place, and a new token is not found. The walk may or may not
        // find a token that is deleted in the meantime.
        let times = 0;
        const met = await walk(has('green'), async () => {
          times += 1;
          if (times > 1 || third === undefined || second === undefined) return;
          // The stored row also contains the position at which the token was created. The view in `third` does not.
          const stored = (await rows.get(third.stream)) ?? third.view;
          await work.commit(change(tokenWrite(stored, [tokenUpdated()], { index: terms('green') })));
          await work.commit(change(tokenWrite(second.view, [tokenDeleted()], { index: 'keep' })));
          await create('green');
        });
        expect(met).toEqual(streams.filter((stream, i) => i % 3 !== 2 && stream !== second?.stream));
      }),
    );

    test(
      'another tenant finds none of these rows, whatever the query is',
      on(async ({ work, rows }) => {
        await work.commit(change(tokenWrite(noTokenYet(), [tokenCreated()], { index: terms('red') })));
        for (const where of [everything, { kind: 'not', of: has('blue') } as const, has('red')]) {
          expect((await find(rows, where, {}, 'another')).streams).toEqual([]);
        }
      }),
    );
  });
}
