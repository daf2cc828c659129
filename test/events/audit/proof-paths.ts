import { createHash } from 'node:crypto';
import { innerNode } from '#src/events/audit/merkle.js';

// Reference implementations of the Merkle root and proofs of RFC 6962, section 2.1. They compute each value from the
// full list of leaves. Tests compare the results with the values that the vault and an auditor compute from the log.

/** Returns the Merkle tree hash of these leaves. The leaves are already hashed. */
export function rootOf(leaves: readonly Uint8Array[]): Uint8Array {
  const [only, ...others] = leaves;
  if (only === undefined) return createHash('sha256').digest();
  if (others.length === 0) return only;
  const split = splitOf(leaves.length);
  return innerNode(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
}

/** Returns PATH(m, D[n]) of RFC 6962: the nodes that lead from leaf `index` to the root. */
export function inclusionPath(index: number, leaves: readonly Uint8Array[]): readonly Uint8Array[] {
  if (leaves.length <= 1) return [];
  const split = splitOf(leaves.length);
  return index < split
    ? [...inclusionPath(index, leaves.slice(0, split)), rootOf(leaves.slice(split))]
    : [...inclusionPath(index - split, leaves.slice(split)), rootOf(leaves.slice(0, split))];
}

/** Returns the root that results from a leaf and its path (RFC 9162, section 2.1.3.2). */
export function rootByPath(leaf: Uint8Array, index: number, size: number, path: readonly Uint8Array[]): Uint8Array {
  let [fn, sn, root] = [index, size - 1, leaf];
  for (const node of path) {
    if (sn === 0) throw new Error('the path is too long');
    if (fn % 2 === 1 || fn === sn) {
      root = innerNode(node, root);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else root = innerNode(root, node);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  if (sn !== 0) throw new Error('the path is too short');
  return root;
}

/**
 * Returns PROOF(m, D[n]) of RFC 6962: the nodes that prove that the tree of all leaves begins with the tree of the
 * first `size` leaves.
 */
export function consistencyPath(size: number, leaves: readonly Uint8Array[], isWhole = true): readonly Uint8Array[] {
  if (size === leaves.length) return isWhole ? [] : [rootOf(leaves)];
  const split = splitOf(leaves.length);
  return size <= split
    ? [...consistencyPath(size, leaves.slice(0, split), isWhole), rootOf(leaves.slice(split))]
    : [...consistencyPath(size - split, leaves.slice(split), false), rootOf(leaves.slice(0, split))];
}

/** Returns true if the path proves that the newer tree begins with the older tree (RFC 9162, section 2.1.4.2). */
export function isConsistent(
  [oldSize, oldRoot]: readonly [number, Uint8Array],
  [size, root]: readonly [number, Uint8Array],
  path: readonly Uint8Array[],
): boolean {
  const isPower = (oldSize & (oldSize - 1)) === 0;
  const [start, ...nodes] = isPower ? [oldRoot, ...path] : path;
  if (start === undefined) return false;
  let [fn, sn, fr, sr] = [oldSize - 1, size - 1, start, start];
  while (fn % 2 === 1) [fn, sn] = [fn >> 1, sn >> 1];
  for (const node of nodes) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [innerNode(node, fr), innerNode(node, sr)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else sr = innerNode(sr, node);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return sn === 0 && Buffer.from(fr).equals(oldRoot) && Buffer.from(sr).equals(root);
}

function splitOf(count: number): number {
  let split = 1;
  while (2 * split < count) split *= 2;
  return split;
}
