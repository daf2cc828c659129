import { textOfBytes } from '../sealing/byte-text.js';
import { sha256 } from '../sealing/hashes.js';

/** The prefix that distinguishes inner nodes from leaves (RFC 6962, section 2.1). */
const nodePrefix = '\x01';

/**
 * A Merkle tree as defined in RFC 6962, section 2.1. Contains only what is needed to add leaves and to compute the
 * root.
 */
export type MerkleTree = {
  /** The number of leaves. */
  readonly size: number;
  /** The roots of the tree's complete subtrees, largest first. There is one peak for each bit that is set in `size`. */
  readonly peaks: readonly Uint8Array[];
};

export const emptyTree: MerkleTree = { size: 0, peaks: [] };

/** Returns the tree with one more leaf. `leaf` is a hash. */
export function withLeaf({ size, peaks }: MerkleTree, leaf: Uint8Array): MerkleTree {
  const kept = [...peaks];
  let node = leaf;
  for (let count = size; count % 2 === 1; count = (count - 1) / 2) node = innerNode(kept.pop() ?? node, node);
  return { size: size + 1, peaks: [...kept, node] };
}

/** Returns the root of the tree (the Merkle Tree Hash in RFC 6962). */
export function treeRoot({ peaks }: MerkleTree): Uint8Array {
  const [last, ...larger] = [...peaks].reverse();
  if (last === undefined) return sha256('');
  return larger.reduce((root, peak) => innerNode(peak, root), last);
}

/** Returns whether the number of peaks matches the size of the tree. */
export function hasItsPeaks({ size, peaks }: MerkleTree): boolean {
  let bits = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2;
  return peaks.length === bits;
}

export function innerNode(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(nodePrefix + textOfBytes(left) + textOfBytes(right));
}
