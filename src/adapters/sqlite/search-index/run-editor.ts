import type { Statement } from 'better-sqlite3';
import { blockOf, blocksOfSegment, checked, entryBytes, type Fence, fenceAt, fencesOf } from './entries.js';
import type { IndexStatements } from './index-statements.js';
import type { Run } from './run.js';

/** The statements that change a block, its segment and its run. */
type EditStatements = Readonly<Record<'changeBlock' | 'changeSegment' | 'changeRun', Statement>>;

/**
 * Creates an editor for the blocks of a run. The editor collects removals in memory and writes each changed block
 * only once.
 */
export function createRunEditor(run: Run, statements: IndexStatements, write: EditStatements) {
  const edited = new Map<number, Fence & { readonly entries: Buffer }>();

  function readBlock(block: number) {
    const known = edited.get(block);
    return known ?? { entries: run.entriesIn(statements, block), count: run.sizeOf(block) };
  }

  return {
    /** Removes an entry. Returns false if the run does not contain the entry. */
    remove(entry: Buffer): boolean {
      const place = run.find(statements, entry, readBlock);
      if (place === null) return false;
      const { entries, count } = readBlock(place.block);
      const left = Buffer.concat([
        entries.subarray(0, place.index * entryBytes),
        entries.subarray((place.index + 1) * entryBytes, count * entryBytes),
      ]);
      edited.set(place.block, { entries: left, count: count - 1, first: left.subarray(0, entryBytes) });
      return true;
    },
    save(version: number): void {
      if (edited.size === 0) return;
      const segments = new Map(run.segments.map(({ segment, fences }) => [segment, fences]));
      const changed = new Map<number, Fence[]>();
      for (const [block, fence] of edited) {
        const id = run.idOf(block);
        const segment = Math.floor(id / blocksOfSegment);
        write.changeBlock.run(blockOf(fence.entries), id);
        const fences = changed.get(segment) ?? fencesIn(segments.get(segment), segment);
        fences[id % blocksOfSegment] = fence;
        changed.set(segment, fences);
      }
      for (const [segment, fences] of changed) write.changeSegment.run(version, fencesOf(fences), segment);
      write.changeRun.run(version, run.row.run);
    },
  };
}

/** Returns the fences of a segment. Throws IndexDamaged if they are missing or damaged. */
export function fencesIn(stored: Buffer | undefined, segment: number): Fence[] {
  const fences = checked(stored, `the fences of segment ${segment}`);
  return Array.from({ length: blocksOfSegment }, (_, block) => fenceAt(fences, block));
}
