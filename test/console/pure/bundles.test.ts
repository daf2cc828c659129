import { afterEach, describe, expect, test, vi } from 'vitest';
import { bundleMs, createBundles } from '#src/console/bundles.js';
import type { Bundle, OperationOutcome } from '#src/console/operations.js';
import { createTasks } from '#src/console/tasks.js';

const ada = { sessionId: 'ada', tenantId: 'shop' };
const grace = { sessionId: 'grace', tenantId: 'shop' };

afterEach(() => void vi.useRealTimers());

function setUp() {
  const removed: string[] = [];
  const errors: unknown[] = [];
  const bundles = createBundles(
    createTasks(
      () => 0,
      (error) => void errors.push(error),
    ),
    (error) => void errors.push(error),
  );
  const bundle = (folder: string): Bundle => ({ folder, files: [], remove: async () => void removed.push(folder) });
  return { bundles, bundle, removed, errors };
}

/** Returns a bundle that is not complete until the test calls `finish`. */
function later() {
  let finish: (outcome: OperationOutcome<Bundle>) => void = () => undefined;
  const made = new Promise<OperationOutcome<Bundle>>((resolve) => {
    finish = resolve;
  });
  return { made: () => made, finish: (outcome: OperationOutcome<Bundle>) => finish(outcome) };
}

describe('the bundles of sessions', () => {
  test('are made one at a time for a tenant, and side by side for two tenants', async () => {
    const { bundles, bundle } = setUp();
    const { made, finish } = later();
    expect(await bundles.start(ada, made)).toBe('started');
    expect(await bundles.start(ada, made)).toBe('busy');
    expect(await bundles.start(grace, made)).toBe('busy');
    const elsewhere = { ...grace, tenantId: 'other' };
    expect(await bundles.start(elsewhere, async () => ({ ok: false, message: 'nothing' }))).toBe('started');
    expect(bundles.find(ada)).toBeNull();
    finish({ ok: true, value: bundle('one') });
    await expect.poll(() => bundles.find(ada)?.folder).toBe('one');
    expect(bundles.find(grace)).toBeNull();
    expect(bundles.find({ ...ada, tenantId: 'other' })).toBeNull();
    expect(await bundles.start(grace, made)).toBe('started');
    await bundles.close();
  });

  test('are removed when the session makes another one, and after 15 minutes', async () => {
    vi.useFakeTimers();
    const { bundles, bundle, removed } = setUp();
    await bundles.start(ada, async () => ({ ok: true, value: bundle('one') }));
    await vi.advanceTimersByTimeAsync(1);
    await bundles.start(ada, async () => ({ ok: true, value: bundle('two') }));
    expect(removed).toEqual(['one']);
    await vi.advanceTimersByTimeAsync(bundleMs - 1);
    expect(bundles.find(ada)?.folder).toBe('two');
    await vi.advanceTimersByTimeAsync(2);
    expect([bundles.find(ada), bundles.state(ada).state]).toEqual([null, 'none']);
    expect(removed).toEqual(['one', 'two']);
  });

  test('are removed when the console closes, also one that is finished only then', async () => {
    const { bundles, bundle, removed } = setUp();
    await bundles.start(ada, async () => ({ ok: true, value: bundle('one') }));
    await expect.poll(() => bundles.find(ada)).not.toBeNull();
    const { made, finish } = later();
    await bundles.start(grace, made);
    await bundles.close();
    expect(removed).toEqual(['one']);
    finish({ ok: true, value: bundle('two') });
    await expect.poll(() => removed).toEqual(['one', 'two']);
    expect(bundles.find(grace)).toBeNull();
  });

  test('of a tenant can be made again after an unexpected error', async () => {
    const { bundles, errors } = setUp();
    await bundles.start(ada, async () => {
      throw new Error('the disk is full');
    });
    await expect.poll(() => bundles.state(ada).state).toBe('failed');
    expect(errors).toHaveLength(1);
    expect(await bundles.start(ada, async () => ({ ok: false, message: 'nothing' }))).toBe('started');
  });

  test('are forgotten 15 minutes after an unexpected error, so failures do not fill the memory', async () => {
    vi.useFakeTimers();
    const { bundles } = setUp();
    await bundles.start(ada, async () => {
      throw new Error('the disk is full');
    });
    await vi.advanceTimersByTimeAsync(bundleMs - 1);
    expect(bundles.state(ada).state).toBe('failed');
    await vi.advanceTimersByTimeAsync(2);
    expect(bundles.state(ada).state).toBe('none');
  });
});
