import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { merkleProofs } from '#src/audit/merkle-proofs.js';
import { consistencyPath, inclusionPath, rootOf } from './proof-paths.js';

const leaves = Array.from({ length: 70 }, (_, index) => createHash('sha256').update(String(index)).digest());

test('the proofs match RFC 6962 for every tree of up to 70 leaves within a larger log', () => {
  for (const stored of [1, 2, 7, 64, 70]) {
    const proofs = merkleProofs(Buffer.concat(leaves.slice(0, stored)));
    for (let size = 1; size <= stored; size += 1) {
      const tree = leaves.slice(0, size);
      expect(proofs.rootOf(size).equals(rootOf(tree))).toBe(true);
      for (let index = 0; index < size; index += 1) {
        expect(proofs.inclusion(index, size)).toEqual(inclusionPath(index, tree));
        expect(proofs.consistency(index + 1, size)).toEqual(consistencyPath(index + 1, tree));
      }
    }
  }
});
