import type { DirectoryRecord } from '../../ports/directory.js';
import type { EventLog } from '../../ports/event-log.js';
import type { FoldedDirectory } from '../../ports/rebuild-thread.js';
import { applyToDirectory, type DirectoryView } from '../../projections/directory-view.js';

const pageSize = 1_000;
const nothing: DirectoryView = { tenant: null, applications: new Map() };

/** All rows of tenants and applications that the log leads to, as of its head. It needs no key. */
export async function foldDirectory(
  log: Pick<EventLog, 'head' | 'readClear' | 'readStream'>,
): Promise<FoldedDirectory> {
  const upTo = await log.head();
  const streams = new Set<string>();
  for (let position = 0; ; ) {
    const page = await log.readClear(position, pageSize);
    for (const { stream } of page) if (stream.startsWith('tenant-')) streams.add(stream);
    const last = page.at(-1);
    if (last === undefined || last.position >= upTo) break;
    position = last.position;
  }
  const records: DirectoryRecord[] = [];
  for (const stream of streams) {
    const { tenant, applications } = (await log.readStream(stream)).reduce(applyToDirectory, nothing);
    records.push(...applications.values(), ...(tenant === null ? [] : [tenant]));
  }
  return { records, upTo };
}
