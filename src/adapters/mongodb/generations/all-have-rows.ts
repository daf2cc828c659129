import { setTimeout as wait } from 'node:timers/promises';
import type { EventLog } from '../../../ports/event-log.js';
import type { Rebuild } from '../../../ports/generations.js';
import type { MongoConnection } from '../connection.js';
import { mongoRowWriter } from '../token-rows/row-writer.js';

const pageSize = 1_000;
const looks = 10;
const pauseMs = 50;

/**
 * Whether every event after the position of a rebuild has its row in the new generation: those that were appended just now get
 * it from their writers, who know both generations, within moments.
 */
export async function allHaveRows(
  connection: MongoConnection,
  log: Pick<EventLog, 'readClear'>,
  { generation, position }: Rebuild,
): Promise<boolean> {
  const events = await log.readClear(position, pageSize);
  if (events.length === pageSize) return false;
  const tokens = events.filter(({ stream }) => stream.startsWith('token-'));
  const newest = new Map(tokens.map(({ stream, revision }) => [stream, revision]));
  const { revisionsOf } = mongoRowWriter(connection, generation);
  for (let look = 0; look < looks; look += 1) {
    if (look > 0) await wait(pauseMs);
    const stored = await revisionsOf([...newest.keys()]);
    if ([...newest].every(([stream, revision]) => (stored.get(stream) ?? -1) >= revision)) return true;
  }
  return false;
}
