import type { ProjectionStatus } from '../../ports/projections.js';
import { columns as aligned } from '../columns.js';

const columns = ['name', 'version', 'generation', 'position', 'head', 'gap', 'state', 'last error'] as const;

/** All projections as a table for a person. */
export function statusTable(statuses: readonly ProjectionStatus[]): string {
  const rows = [columns, ...statuses.map(cellsOf)];
  return aligned(rows).join('\n');
}

function cellsOf({ name, version, generation, position, head, gap, state, rebuild, lastRebuild }: ProjectionStatus) {
  const numbers = [version, generation, position, head, gap].map((number) => (number === null ? '-' : String(number)));
  const going = rebuild === null ? state : `${state} (${rebuild.phase}${shareText(rebuild)})`;
  return [name, ...numbers, going, lastRebuild === null ? '-' : errorOf(lastRebuild)];
}

/** How far the phase is; nothing once all events are read, because what remains has no measure. */
function shareText({ position, head }: { readonly position: number; readonly head: number }): string {
  return position >= head ? '' : `, ${Math.floor((position / head) * 100)}%`;
}

/** What the last rebuild failed with; `-` for none. */
function errorOf({ outcome, different }: NonNullable<ProjectionStatus['lastRebuild']>): string {
  if (outcome === 'different') return `${different} ${different === 1 ? 'row' : 'rows'} differed`;
  if (outcome === 'key_lost') return 'a key of a token is lost';
  return outcome === 'failed' ? 'failed, see the log' : '-';
}
