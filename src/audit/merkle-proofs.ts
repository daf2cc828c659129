import { innerNode } from '../events/audit/merkle.js';

const hashBytes = 32;

/** Computes the proofs of RFC 6962, section 2.1, for the leaves of a log. */
export type MerkleProofs = {
  /** Returns the root of the tree over the first `size` leaves. */
  rootOf(size: number): Buffer;
  /**
   * Returns the nodes that lead from a leaf to the root of the tree over the first `size` leaves (2.1.1). Leaves are
   * counted from 0.
   */
  inclusion(index: number, size: number): readonly Buffer[];
  /**
   * Returns the nodes that prove that the tree over the first `size` leaves extends the tree over the first `earlier`
   * leaves (2.1.2).
   */
  consistency(earlier: number, size: number): readonly Buffer[];
};

/**
 * Prepares the proofs for a log. `leaves` contains the 32-byte hashes of the log's leaves, one after another. Computes
 * all complete subtrees once, which takes 32 more bytes of memory per leaf. After that, each proof takes only
 * microseconds.
 */
export function merkleProofs(leaves: Buffer): MerkleProofs {
  const levels = [leaves];
  for (let below = leaves; below.length >= 2 * hashBytes; ) {
    const count = Math.floor(below.length / (2 * hashBytes));
    const level = Buffer.allocUnsafe(count * hashBytes);
    for (let at = 0; at < count; at += 1) {
      innerNode(nodeAt(below, 2 * at), nodeAt(below, 2 * at + 1)).copy(level, at * hashBytes);
    }
    levels.push(level);
    below = level;
  }

  /**
   * Returns the root of the subtree over the `count` leaves from `start` on. `start` must be a multiple of the smallest
   * power of two that is at least `count`.
   */
  function subtree(start: number, count: number): Buffer {
    const height = Math.log2(count);
    const level = Number.isInteger(height) ? levels[height] : undefined;
    if (level !== undefined) return nodeAt(level, start / count);
    const split = splitOf(count);
    return innerNode(subtree(start, split), subtree(start + split, count - split));
  }

  function inclusion(index: number, start: number, count: number): readonly Buffer[] {
    if (count <= 1) return [];
    const split = splitOf(count);
    return index < split
      ? [...inclusion(index, start, split), subtree(start + split, count - split)]
      : [...inclusion(index - split, start + split, count - split), subtree(start, split)];
  }

  function consistency(earlier: number, start: number, count: number, isWhole: boolean): readonly Buffer[] {
    if (earlier === count) return isWhole ? [] : [subtree(start, count)];
    const split = splitOf(count);
    return earlier <= split
      ? [...consistency(earlier, start, split, isWhole), subtree(start + split, count - split)]
      : [...consistency(earlier - split, start + split, count - split, false), subtree(start, split)];
  }

  return {
    rootOf: (size) => subtree(0, size),
    inclusion: (index, size) => inclusion(index, 0, size),
    consistency: (earlier, size) => consistency(earlier, 0, size, true),
  };
}

function nodeAt(level: Buffer, index: number): Buffer {
  return level.subarray(index * hashBytes, (index + 1) * hashBytes);
}

/** Returns the largest power of two that is less than `count`. `count` must be at least 2. */
function splitOf(count: number): number {
  let split = 1;
  while (2 * split < count) split *= 2;
  return split;
}
