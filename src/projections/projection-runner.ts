import { setTimeout as wait } from 'node:timers/promises';
import { atMost } from '../domain/at-most.js';
import type { ClearEvent } from '../events/event.js';
import { isTenantStream } from '../events/tenancy/streams.js';
import { isTokenStream } from '../events/tokens/stream-name.js';
import type { Checkpoints, Lead } from '../ports/checkpoints.js';
import type { DirectoryWriter } from '../ports/directory.js';
import type { TokenRowWriter } from '../ports/token-rows.js';
import type { Vault } from '../vault/vault.js';
import type { RowSources } from './fold-row.js';
import { projectDirectory } from './project-directory.js';
import { projectToken } from './project-token.js';

const pageSize = 1_000;
const lanes = 16;
/**
 * The time, in ms, that the runner waits before it writes a row. In most cases, the process that appended the event
 * writes the row within this time.
 */
const graceMs = 250;

export type RunnerDeps = {
  readonly vault: RowSources & Pick<Vault, 'clock'>;
  readonly rows: TokenRowWriter;
  readonly directory: DirectoryWriter;
  readonly checkpoints: Checkpoints;
  /**
   * Returns the token streams of unfinished batches. Such a batch may still be undone. The rows of these streams are
   * written by the process that finishes the batch.
   */
  readonly pendingBatchStreams: () => Promise<ReadonlySet<string>>;
};

/**
 * Brings the rows up to the head of the log, starting at the runner's checkpoint. Returns the number of events that
 * were read. Usually, the command that appends an event also writes the row. The runner writes the rows that a command
 * could not write, because of a crash or an unavailable store. If an error occurs, the runner stops at the current
 * page, so no event is skipped. When `goesOn` returns false, the runner stops after the current page.
 */
export async function catchUp(
  { vault, rows, directory, checkpoints, pendingBatchStreams }: RunnerDeps,
  lead: Lead,
  goesOn: () => boolean = () => true,
): Promise<number> {
  let position = await checkpoints.position(lead.name);
  let seen = 0;
  while (goesOn()) {
    const page = await vault.log.readClear(position, pageSize);
    const last = page.at(-1);
    if (last === undefined) return seen;
    const newest = newestOfStreams(page);
    if ((await behind(rows, newest)).length > 0) await wait(graceMs);
    const late = await behind(rows, newest);
    const hidden = late.length === 0 ? new Set() : await pendingBatchStreams();
    const shown = late.filter(({ stream }) => !hidden.has(stream));
    await atMost(lanes, shown, ({ tenantId, stream }) => projectToken(vault, rows, tenantId, stream));
    const tenants = newest.filter(({ stream }) => isTenantStream(stream));
    await atMost(lanes, tenants, ({ stream }) => projectDirectory(vault, directory, stream));
    if (!(await checkpoints.save(lead, last.position))) return seen;
    position = last.position;
    seen += page.length;
    // This is the end of the log. Under load, there is always another event, and the leader has other work to do.
    if (page.length < pageSize) return seen;
  }
  return seen;
}

/** Returns the newest event of each stream on a page. */
function newestOfStreams(page: readonly ClearEvent[]): readonly ClearEvent[] {
  return [...new Map(page.map((event) => [event.stream, event])).values()];
}

async function behind(rows: TokenRowWriter, newest: readonly ClearEvent[]): Promise<readonly ClearEvent[]> {
  const tokens = newest.filter(({ stream }) => isTokenStream(stream));
  const stored = await rows.revisionsOf(tokens.map(({ stream }) => stream));
  return tokens.filter(({ stream, revision }) => (stored.get(stream) ?? -1) < revision);
}
