import type { EventLog } from '../../../ports/event-log.js';
import type { MongoConnection } from '../connection.js';
import type { Waits } from './waits.js';
import type { WorkKey } from './work-mac.js';

/** What the functions use that record the work of a change, and settle the work of processes that died. */
export type WorkDeps = {
  readonly connection: MongoConnection;
  readonly log: EventLog;
  readonly waits: Waits;
  readonly workKey: WorkKey;
  readonly now: () => number;
  /** Brings a stream's row up to date with the newest event in the stream. */
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};
