import { atMost } from '../../domain/at-most.js';
import type { ClearEvent } from '../../events/event.js';
import type { BuiltRow } from '../../ports/generations.js';
import type { BuiltPage } from '../../ports/rebuild-thread.js';
import { foldRow, type RowSources } from '../fold-row.js';

const lanes = 16;

/**
 * Returns the rows of all token streams that have an event on a page of the log, each as of the end of its stream.
 * `revisionsOf` returns the revisions of existing rows, so that this does not rebuild rows that writers have already
 * written. Throws KeyLost.
 */
export async function buildPage(
  sources: RowSources,
  revisionsOf: (streams: readonly string[]) => Promise<ReadonlyMap<string, number>>,
  after: number,
  limit: number,
): Promise<BuiltPage> {
  const page = await sources.log.readClear(after, limit);
  const tokens = page.filter(({ stream }) => stream.startsWith('token-'));
  const newest = [...new Map(tokens.map((event) => [event.stream, event])).values()];
  const stored = await revisionsOf(newest.map(({ stream }) => stream));
  const missing = newest.filter(({ stream, revision }) => (stored.get(stream) ?? -1) < revision);
  const rows = await atMost(lanes, missing, (event) => rowOf(sources, event));
  return {
    rows: rows.filter((row) => row !== null),
    events: page.length,
    position: page.at(-1)?.position ?? after,
  };
}

async function rowOf(sources: RowSources, { tenantId, stream, time }: ClearEvent): Promise<BuiltRow | null> {
  const folded = await foldRow(sources, tenantId, stream);
  return folded === null ? null : { ...folded, at: time };
}
