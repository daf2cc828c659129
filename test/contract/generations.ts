import { describe, expect, test, vi } from 'vitest';
import type { Generations, Rebuild } from '#src/ports/generations.js';
import type { TokenView } from '#src/views/token-view.js';
import { projectionVersions } from '#src/views/versions.js';
import {
  aHash,
  atNoon,
  type ContractStores,
  change,
  noTokenYet,
  type OpenStores,
  onStores,
  tokenCreated,
  tokenDeleted,
  tokenUpdated,
  tokenWrite,
} from './support.js';

const term = (name: string): string => Buffer.from(name.padEnd(16)).toString('hex');
const page = { now: atNoon, offset: 0, limit: 10 };

function aRebuild(given: Partial<Rebuild> = {}): Rebuild {
  return {
    generation: 2,
    from: 1,
    phase: 'building',
    position: 0,
    head: 0,
    startedAt: atNoon,
    swappedAt: null,
    acceptNew: false,
    outcome: null,
    different: 0,
    examples: [],
    rate: null,
    ...given,
  };
}

/**
 * Returns a write that adds one search term to each of these generations. Each term contains the number of its
 * generation.
 */
function written(before: TokenView, generations: readonly number[], events = [tokenCreated()]) {
  const write = tokenWrite(before, events);
  const terms = Object.fromEntries(generations.map((generation) => [generation, [term(`all-${generation}`)]]));
  const index = { fingerprintHash: aHash(), terms };
  const row = { of: 'token', view: write.view, index } as const;
  return { ...write, index, row };
}

async function totalIn({ rows }: Pick<ContractStores, 'rows'>, generation: number): Promise<number> {
  const all = term(`all-${generation}`);
  const plan = { tenantId: 'tenant', generation, all, where: { kind: 'and', of: [] } } as const;
  return (await rows.search(plan, page)).total;
}

/** Empties a generation. Tries again, as a rebuild does, while the store copies its write-ahead log. */
async function emptied(generations: Generations, generation: number): Promise<void> {
  await vi.waitFor(async () => expect(await generations.empty(generation)).toBe(true), 30_000);
}

/** Defines the tests that every adapter for `Generations` must pass. */
export function generationsContract(name: string, open: OpenStores): void {
  const on = (run: Parameters<typeof onStores>[1]) => onStores(open, run);

  describe(`Generations: ${name}`, () => {
    test(
      'a new vault has one generation, which the current versions wrote, and no rebuild',
      on(async ({ generations }) => {
        expect(await generations.inUse()).toEqual({ read: 1, write: [1] });
        expect(await generations.versions()).toEqual(projectionVersions);
        expect(await generations.rebuild()).toBeNull();
        await generations.saveVersion('directory', 7);
        expect(await generations.versions()).toEqual({ ...projectionVersions, directory: 7 });
      }),
    );

    test(
      'only one rebuild runs at a time; its progress survives a restart, and its result is kept until the next rebuild',
      on(async ({ generations, reopen }) => {
        expect(await generations.begin(aRebuild())).toBe(true);
        expect(await generations.begin(aRebuild({ generation: 3 }))).toBe(false);
        expect(await generations.inUse()).toEqual({ read: 1, write: [1, 2] });
        const further = aRebuild({ position: 12, head: 40 });
        await generations.save(further);
        const { generations: again } = await reopen();
        expect(await again.rebuild()).toEqual(further);
        await again.leave(2);
        await emptied(again, 2);
        await again.end(aRebuild({ phase: 'ended', outcome: 'different', different: 1, examples: ['token-1'] }));
        expect(await again.inUse()).toEqual({ read: 1, write: [1] });
        expect(await again.rebuild()).toMatchObject({ phase: 'ended', examples: ['token-1'] });
        expect(await again.begin(aRebuild({ generation: 3 }))).toBe(true);
        expect(await again.inUse()).toEqual({ read: 1, write: [1, 3] });
        await again.leave(3);
        await emptied(again, 3);
        await again.end(null);
        expect(await again.rebuild()).toBeNull();
      }),
    );

    test(
      'a change is written to every active generation',
      on(async (stores) => {
        const { work, generations, rows } = stores;
        await generations.begin(aRebuild());
        const both = written(noTokenYet(), [1, 2]);
        expect(await work.commit(change(both))).toEqual({ outcome: 'committed' });
        expect([await totalIn(stores, 1), await totalIn(stores, 2)]).toEqual([1, 1]);
        const kept = tokenWrite(both.view, [tokenUpdated()], { index: 'keep' });
        await work.commit(change(kept));
        expect([await totalIn(stores, 1), await totalIn(stores, 2)]).toEqual([1, 1]);
        expect((await rows.get(both.stream))?.state.revision).toBe(1);
        await work.commit(change(tokenWrite(kept.view, [tokenDeleted()], { index: 'keep' })));
        expect([await totalIn(stores, 1), await totalIn(stores, 2)]).toEqual([0, 0]);
      }),
    );

    test(
      'a rebuilt row never replaces a row that is as new or newer, or a removed one',
      on(async (stores) => {
        const { work, generations } = stores;
        const old = written(noTokenYet(), [1]);
        await work.commit(change(old));
        await generations.begin(aRebuild());
        const build = (write: typeof old, terms: Record<number, string[]>) => ({
          view: write.view,
          at: atNoon,
          index: { ...write.index, terms },
        });
        const first = { 1: [term('all-1')], 2: [term('all-2')] };
        await generations.put(2, [build(old, first)]);
        expect(await totalIn(stores, 2)).toBe(1);
        await generations.put(2, [build(old, { 1: [term('all-1')], 2: [term('other')] })]);
        expect(await totalIn(stores, 2)).toBe(1);
        await work.commit(change(tokenWrite(old.view, [tokenDeleted()], { index: 'keep' })));
        await generations.put(2, [build(old, first)]);
        expect([await totalIn(stores, 1), await totalIn(stores, 2)]).toEqual([0, 0]);
        const deletedBefore = written(noTokenYet(), [1, 2]);
        await work.commit(change(deletedBefore));
        const gone = written(noTokenYet(), [1]);
        await generations.put(2, [
          { view: { ...gone.view, state: { ...gone.view.state, life: null } }, index: 'keep', at: 0 },
        ]);
        await generations.put(2, [build(gone, first)]);
        expect(await totalIn(stores, 2)).toBe(1);
      }),
    );

    test(
      'a generation is put into use only when every event after its position has its row, and is read from then on',
      on(async (stores) => {
        const { work, generations, log, rows } = stores;
        const old = written(noTokenYet(), [1]);
        await work.commit(change(old));
        const position = await log.head();
        await generations.begin(aRebuild());
        const kept = tokenWrite(old.view, [tokenUpdated()], { index: 'keep' });
        await work.commit(change(kept));
        const keeping = aRebuild({ phase: 'keeping', position });
        expect(await generations.swap(keeping, 9)).toBe(false);
        expect(await generations.inUse()).toEqual({ read: 1, write: [1, 2] });
        const terms = { 1: [term('all-1')], 2: [term('all-2')] };
        const [created] = await log.readStream(old.stream);
        const { life } = kept.view.state;
        if (life === null) throw new Error('it lives');
        const state = { ...kept.view.state, life: { ...life, createdPosition: created?.position ?? 0 } };
        const index = { fingerprintHash: old.index.fingerprintHash, terms };
        await generations.put(2, [{ view: { ...kept.view, state }, index, at: atNoon }]);
        expect(await generations.swap(keeping, 9)).toBe(true);
        expect(await generations.inUse()).toEqual({ read: 2, write: [1, 2] });
        expect((await generations.versions()).tokens).toBe(9);
        expect(await generations.rebuild()).toEqual(keeping);
        expect((await rows.get(old.stream))?.state.revision).toBe(1);
        expect(await rows.findByFingerprint('tenant', old.index.fingerprintHash, atNoon, 9)).toEqual([old.stream]);
        expect(Object.fromEntries(await rows.countByType('tenant', atNoon))).toEqual({ card: 1 });
        // A reader that began on the old rows can continue to read them, and still sees every new change.
        await work.commit(change(written(noTokenYet(), [1, 2])));
        expect([await totalIn(stores, 1), await totalIn(stores, 2)]).toEqual([2, 2]);
        await generations.leave(1);
        await expect(totalIn(stores, 1)).rejects.toThrow('generation_dropped');
        await emptied(generations, 1);
        await expect(totalIn(stores, 1)).rejects.toThrow('generation_dropped');
        expect(await generations.inUse()).toEqual({ read: 2, write: [2] });
        expect(await work.commit(change(written(noTokenYet(), [2])))).toEqual({ outcome: 'committed' });
        expect(await totalIn(stores, 2)).toBe(3);
      }),
    );

    test(
      'all processes see a cancellation, and it affects only the generation that was canceled',
      on(async ({ generations, reopen }) => {
        await generations.begin(aRebuild());
        expect(await generations.isCancelAsked(2)).toBe(false);
        await generations.askCancel(2);
        expect(await generations.isCancelAsked(2)).toBe(true);
        expect(await generations.isCancelAsked(3)).toBe(false);
        expect(await (await reopen()).generations.rebuild()).toEqual(aRebuild());
      }),
    );

    test(
      'a generation that no process writes can be retired, and active generations cannot',
      on(async ({ generations }) => {
        await generations.begin(aRebuild());
        expect(await generations.retire([1, 2, 3])).toEqual([3]);
        expect(await generations.inUse()).toEqual({ read: 1, write: [1, 2] });
        await generations.leave(2);
        expect(await generations.retire([1, 2])).toEqual([2]);
      }),
    );

    test(
      'no row is written for a generation that was abandoned in the meantime',
      on(async (stores) => {
        const { generations } = stores;
        await generations.begin(aRebuild());
        const { view, index } = written(noTokenYet(), [1, 2]);
        await generations.leave(2);
        await generations.put(2, [{ view, index, at: atNoon }]);
        await emptied(generations, 2);
        await generations.end(null);
        expect(await generations.begin(aRebuild({ generation: 4 }))).toBe(true);
        expect(await totalIn(stores, 4)).toBe(0);
      }),
    );
  });
}
