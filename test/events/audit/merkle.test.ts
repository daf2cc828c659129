import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { emptyTree, hasItsPeaks, treeRoot, withLeaf } from '#src/events/audit/merkle.js';
import { consistencyPath, inclusionPath, isConsistent, rootByPath, rootOf } from './proof-paths.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const leafOf = (entry: string) => createHash('sha256').update(Buffer.of(0)).update(Buffer.from(entry, 'hex')).digest();
const treeOver = (leaves: readonly Uint8Array[]) => leaves.reduce(withLeaf, emptyTree);

/** Entries and roots from the tests of Certificate Transparency, the system that RFC 6962 specifies. */
const entries = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

test('roots match RFC 6962', () => {
  for (const [size, root] of roots.entries()) {
    const leaves = entries.slice(0, size).map(leafOf);
    expect(hex(treeRoot(treeOver(leaves)))).toBe(root);
    expect(hex(rootOf(leaves))).toBe(root);
  }
});

describe('every size up to 70', () => {
  const leaves = Array.from({ length: 70 }, () => randomBytes(32));

  test('a tree that grows leaf by leaf has the root of the whole tree, and as many peaks as there are one bits in its size', () => {
    let tree = emptyTree;
    for (const [index, leaf] of leaves.entries()) {
      tree = withLeaf(tree, leaf);
      expect(hex(treeRoot(tree))).toBe(hex(rootOf(leaves.slice(0, index + 1))));
      expect(hasItsPeaks(tree)).toBe(true);
      expect(hasItsPeaks({ ...tree, size: 2 * tree.size + 1 })).toBe(false);
    }
  });

  test('each leaf has a path to the root, and no other leaf has the same path', () => {
    for (let size = 1; size <= leaves.length; size += 1) {
      const part = leaves.slice(0, size);
      const root = hex(treeRoot(treeOver(part)));
      for (const [index, leaf] of part.entries()) {
        const path = inclusionPath(index, part);
        expect(hex(rootByPath(leaf, index, size, path))).toBe(root);
        expect(hex(rootByPath(randomBytes(32), index, size, path))).not.toBe(root);
      }
    }
  });

  test('every earlier tree is proven to be the beginning of a later one, and a different tree is not', () => {
    for (let size = 1; size <= leaves.length; size += 7) {
      const [now, whole] = [leaves.slice(0, size), treeRoot(treeOver(leaves.slice(0, size)))];
      for (let before = 1; before < size; before += 1) {
        const path = consistencyPath(before, now);
        const old = treeRoot(treeOver(leaves.slice(0, before)));
        expect(isConsistent([before, old], [size, whole], path)).toBe(true);
        expect(isConsistent([before, randomBytes(32)], [size, whole], path)).toBe(false);
      }
    }
  });
});
