import { isTenantStream } from '../../events/tenancy/streams.js';
import type { EventLog } from '../../ports/event-log.js';
import type { FoldedDirectory } from '../../ports/rebuild-thread.js';
import type { DirectoryRecord } from '../../views/directory-view.js';
import { applyToDirectory, noDirectoryRows } from '../../views/directory-view.js';
import { withDirectoryMac } from '../../views/row-mac.js';

const pageSize = 1_000;

/** Returns the rows of all tenants and applications as of the head of the log. Decrypts nothing. */
export async function foldDirectory(
  log: Pick<EventLog, 'head' | 'readClear' | 'readStream'>,
  macKey: Uint8Array,
): Promise<FoldedDirectory> {
  const upTo = await log.head();
  const streams = new Set<string>();
  for (let position = 0; ; ) {
    const page = await log.readClear(position, pageSize);
    for (const { stream } of page) if (isTenantStream(stream)) streams.add(stream);
    const last = page.at(-1);
    if (last === undefined || last.position >= upTo) break;
    position = last.position;
  }
  const records: DirectoryRecord[] = [];
  for (const stream of streams) {
    const { tenant, applications } = (await log.readStream(stream)).reduce(applyToDirectory, noDirectoryRows);
    records.push(...applications.values(), ...(tenant === null ? [] : [tenant]));
  }
  return { records: records.map((record) => withDirectoryMac(macKey, record)), upTo };
}
