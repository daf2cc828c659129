import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkContainers } from '#src/domain/token/fields/containers.js';
import { containerPath } from '../../access/arbitraries.js';

describe('containers', () => {
  it.each([
    [['/'], ['/']],
    [['/PCI/High/'], ['/pci/high/']],
    [
      ['/a/', '/A/', '/b/', '/a/'],
      ['/a/', '/b/'],
    ],
    [['/a_b-9/'], ['/a_b-9/']],
    [[`/${'x'.repeat(198)}/`], [`/${'x'.repeat(198)}/`]],
    [Array.from({ length: 12 }, () => '/a/'), ['/a/']],
  ])('stores %j as %j', (given, stored) => {
    expect(checkContainers(given)).toEqual({ ok: true, value: stored });
  });

  it.each([
    [null, ['containers']],
    ['/a/', ['containers']],
    [{ 0: '/a/' }, ['containers']],
    [[], ['containers']],
    [Array.from({ length: 11 }, (_, i) => `/${i}/`), ['containers']],
    [['a/'], ['containers[0]']],
    [['/a'], ['containers[0]']],
    [['//'], ['containers[0]']],
    [['/a//b/'], ['containers[0]']],
    [['/a.b/'], ['containers[0]']],
    [['/a b/'], ['containers[0]']],
    [['/ä/'], ['containers[0]']],
    [['/../'], ['containers[0]']],
    [['/*/'], ['containers[0]']],
    [['/a/\n'], ['containers[0]']],
    [[''], ['containers[0]']],
    [[`/${'x'.repeat(199)}/`], ['containers[0]']],
    [
      ['/a/', null, 'b', 1],
      ['containers[1]', 'containers[2]', 'containers[3]'],
    ],
  ])('rejects %j with an error for %j', (given, paths) => {
    const checked = checkContainers(given);
    expect(checked.ok ? checked.value : Object.keys(checked.errors)).toEqual(paths);
  });

  it('keeps stored containers unchanged, so that a stored token can be sent back', () => {
    fc.assert(
      fc.property(fc.array(containerPath, { minLength: 1, maxLength: 10 }), (paths) => {
        const once = checkContainers(paths.map((path, i) => (i % 2 === 0 ? path.toUpperCase() : path)));
        if (!once.ok) throw new Error(JSON.stringify(once));
        expect(checkContainers(once.value)).toEqual(once);
        expect(new Set(once.value)).toEqual(new Set(paths));
      }),
    );
  });
});
