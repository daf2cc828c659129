import type { ProjectionStatus } from '../../ports/projections.js';

const columns = ['name', 'version', 'generation', 'position', 'head', 'gap', 'state', 'last error'] as const;

/** All projections as a table for a person. */
export function statusTable(statuses: readonly ProjectionStatus[]): string {
  const rows = [columns, ...statuses.map(cellsOf)];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cellsOf({ name, version, generation, position, head, gap, state, rebuild, lastRebuild }: ProjectionStatus) {
  const numbers = [version, generation, position, head, gap].map((number) => (number === null ? '-' : String(number)));
  const going = rebuild === null ? state : `${state} (${rebuild.phase}, ${share(rebuild)}%)`;
  return [name, ...numbers, going, lastRebuild === null ? '-' : errorOf(lastRebuild)];
}

function share({ position, head }: { readonly position: number; readonly head: number }): number {
  return head === 0 ? 100 : Math.floor(Math.min(position / head, 1) * 100);
}

/** What the last rebuild failed with; `-` for none. */
function errorOf({ outcome, different }: NonNullable<ProjectionStatus['lastRebuild']>): string {
  if (outcome === 'different') return `${different} rows differed`;
  if (outcome === 'key_lost') return 'a key of a token is lost';
  return outcome === 'failed' ? 'failed, see the log' : '-';
}
