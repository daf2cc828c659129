import { noSealedParts } from '../events/event.js';
import type { EventLog, StoredLog } from '../ports/event-log.js';
import type { Random } from '../ports/random.js';

const stream = 'log';
const noTenant = '';

/** What the very first event says of its log. `dev` marks data that `--dev` made, for ever. */
export type LogIdentity = { readonly logId: string; readonly dev: boolean };

/** The identity of a log; null when it is empty. */
export async function logIdentity(log: Pick<StoredLog, 'readStream'>): Promise<LogIdentity | null> {
  const [opened] = await log.readStream(stream);
  return opened === undefined ? null : { logId: String(opened.clear['log_id']), dev: opened.clear['dev'] === true };
}

/** Writes `log.opened`, the very first event, which names the log; every store remembers it. */
export async function openLog(
  log: EventLog,
  random: Random,
  { dev, at, logId }: { readonly dev: boolean; readonly at: number; readonly logId: string },
): Promise<void> {
  const opened = {
    ...{ id: random.uuid(), type: 'log.opened', version: 1, tenantId: noTenant, actorId: 'system', time: at },
    ...{ cmd: null, trace: null, clear: { log_id: logId, dev }, sealed: noSealedParts },
  };
  const { outcome } = await log.append(stream, -1, [opened]);
  if (outcome !== 'appended') throw new Error('another process opened the log at the same moment');
}
