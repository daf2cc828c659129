import { type EventType, systemEvent } from '../events/event.js';
import type { EventLog, StoredLog } from '../ports/event-log.js';
import type { Random } from '../ports/random.js';

const stream = 'log';
const noTenant = '';

/**
 * The identity of a log. It is stored in the log's first event and never changes. If `dev` is true, the data was
 * created with `--dev`.
 */
export type LogIdentity = { readonly logId: string; readonly dev: boolean };

/** Returns the identity of a log. Returns null if the log is empty. */
export async function logIdentity(log: Pick<StoredLog, 'readStream'>): Promise<LogIdentity | null> {
  const [opened] = await log.readStream(stream);
  return opened === undefined ? null : { logId: String(opened.clear['log_id']), dev: opened.clear['dev'] === true };
}

/** Appends the first event of the log, `log.opened`, which contains the id of the log. Every store records this id. */
export async function openLog(
  log: EventLog,
  random: Random,
  { dev, at, logId }: { readonly dev: boolean; readonly at: number; readonly logId: string },
): Promise<void> {
  const clear = { log_id: logId, dev };
  const opened = systemEvent({
    id: random.uuid(),
    type: 'log.opened' satisfies EventType,
    version: 1,
    tenantId: noTenant,
    time: at,
    clear,
  });
  const { outcome } = await log.append(stream, -1, [opened]);
  if (outcome !== 'appended') throw new Error('another process opened the log at the same moment');
}
