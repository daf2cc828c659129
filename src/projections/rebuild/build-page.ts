import { atMost } from '../../domain/at-most.js';
import { endsCommit, type ProvenEvent } from '../../events/commit.js';
import { isTokenStream } from '../../events/tokens/stream-name.js';
import type { BuiltRow } from '../../ports/generations.js';
import type { BuiltPage } from '../../ports/rebuild-thread.js';
import { applyToView, emptyView, type TokenView } from '../../views/token-view.js';
import { foldRow, type RowSources } from '../fold-row.js';

const lanes = 16;

/**
 * Returns the rows of all token streams that have an event on a page of the log. Each row reflects at least the events
 * up to the end of the page. `revisionsOf` returns the revisions of the existing rows. A row that another writer has
 * already written is not rebuilt. Throws KeyLost.
 */
export async function buildPage(
  sources: RowSources,
  revisionsOf: (streams: readonly string[]) => Promise<ReadonlyMap<string, number>>,
  after: number,
  limit: number,
): Promise<BuiltPage> {
  const page = await sources.log.readAll(after, limit);
  const streams = new Map<string, ProvenEvent[]>();
  for (const event of page) {
    const events = streams.get(event.stream);
    if (events !== undefined) events.push(event);
    else if (isTokenStream(event.stream)) streams.set(event.stream, [event]);
  }
  const stored = await revisionsOf([...streams.keys()]);
  const missing = [...streams.values()].filter((events) => {
    const newest = events.at(-1);
    return newest !== undefined && (stored.get(newest.stream) ?? -1) < newest.revision;
  });
  const rows = await atMost(lanes, missing, (events) => rowOf(sources, events));
  return {
    rows: rows.filter((row) => row !== null),
    events: page.length,
    position: page.at(-1)?.position ?? after,
  };
}

async function rowOf(sources: RowSources, events: readonly ProvenEvent[]): Promise<BuiltRow | null> {
  const newest = events.at(-1);
  if (newest === undefined) return null;
  const folded = await foldRow(sources, newest.tenantId, newest.stream, viewOf(events, newest));
  return folded === null ? null : { at: newest.time, ...folded };
}

/**
 * Returns the view of a stream if all of its events up to `newest` are on the page, so the stream does not have to be
 * read. Returns null if any of these events is missing from the page, or if the page ends in the middle of a commit. If
 * the stream has more events after the page, the row is rebuilt from a later page.
 */
function viewOf(events: readonly ProvenEvent[], newest: ProvenEvent): TokenView | null {
  const isWhole = events.every(({ revision }, index) => revision === index) && endsCommit(newest);
  return isWhole ? events.reduce(applyToView, emptyView(newest.stream, newest.tenantId)) : null;
}
