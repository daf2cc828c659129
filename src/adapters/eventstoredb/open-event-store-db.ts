import { EventStoreDBClient } from '@eventstore/db-client';
import type { StoredLog } from '../../ports/event-log.js';
import { StoreProblem } from '../../ports/store-problem.js';
import { eventStoreDbEventLog } from './event-log.js';
import { within } from './persist.js';

const defaultLimitMs = 5_000;

/**
 * Opens the event log on EventStoreDB at a connection string (`esdb://…`). Throws StoreUnavailable when the server does
 * not answer within `limitMs`, which then bounds every call. Open it once in a process: the clients of a process share
 * state, and when one loses its connection the other can end the process.
 */
export async function openEventStoreDb(
  connectionString: string,
  limitMs = defaultLimitMs,
): Promise<{ readonly log: StoredLog; close(): Promise<void> }> {
  const client = clientOf(connectionString);
  const close = () => within(limitMs, client.dispose());
  const log = eventStoreDbEventLog(client, limitMs);
  try {
    // On a client that made no call yet the first one lands last; so one is awaited before there are others.
    await log.head();
    return { log, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function clientOf(connectionString: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(connectionString);
  } catch {
    // The library's message quotes the string, which may hold a password.
    throw new EventStoreDbBroken(
      'the address of EventStoreDB cannot be used: check eventstore.url, its options, and the file that tlsCAFile names.',
    );
  }
}

/** EventStoreDB cannot be used as it is set up. The message says what to do. */
export class EventStoreDbBroken extends StoreProblem {
  constructor(message: string) {
    super(message);
    this.name = 'EventStoreDbBroken';
  }
}
