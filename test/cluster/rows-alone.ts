import { mongoDirectory } from '#src/adapters/mongodb/directory/directory.js';
import { directoryIndexes } from '#src/adapters/mongodb/directory/directory-indexes.js';
import { mongoDirectoryWriter } from '#src/adapters/mongodb/directory/directory-writer.js';
import { mongoErasureProbe } from '#src/adapters/mongodb/erasure-probe.js';
import { tokenRowsInUse } from '#src/adapters/mongodb/generations/rows-in-use.js';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { mongoRowWriter } from '#src/adapters/mongodb/token-rows/row-writer.js';
import { tokenRowsIndexes } from '#src/adapters/mongodb/token-rows/token-rows-indexes.js';
import { workIndexes } from '#src/adapters/mongodb/work-indexes.js';
import { type ProvenEvent, sealCommit } from '#src/events/commit.js';
import type { EventLog } from '#src/ports/event-log.js';
import type { Change, CommitOutcome, StreamWrite, UnitOfWork } from '#src/ports/unit-of-work.js';
import type { ContractStores } from '../contract/support.js';
import { manualClock } from '../support/manual-clock.js';
import { type MongoDatabase, mongoDatabase } from './own-database.js';

/**
 * Opens the rows and the directory on MongoDB, with an event log in memory. Only the suites for rows and the directory
 * use these stores. Other tests check the same guarantees with the event log and the unit of work of the cluster
 * profile.
 */
export async function rowsAlone(): Promise<ContractStores> {
  const database = await mongoDatabase();
  await ensureIndexes(database.connection.db, [tokenRowsIndexes(1), directoryIndexes, ...workIndexes]);
  return onDatabase(database, database.connection, new Map());
}

type Streams = Map<string, ProvenEvent[]>;

function onDatabase(
  database: MongoDatabase,
  connection: MongoDatabase['connection'],
  streams: Streams,
): ContractStores {
  const lacking = 'not part of rows and directory';
  const inUse = async () => ({ read: 1, write: [1], at: performance.now() });
  const port = new Proxy({}, { get: () => () => Promise.reject(new Error(lacking)) });
  return {
    work: workOn(connection, streams),
    rows: tokenRowsInUse(connection, { known: inUse, fresh: inUse }),
    erasureProbe: mongoErasureProbe(connection),
    directory: mongoDirectory(connection),
    clock: manualClock(),
    log: { ...(port as EventLog), readStream: async (stream) => streams.get(stream) ?? [] },
    // The suites for rows and the directory never use the following stores.
    chain: port as ContractStores['chain'],
    keys: port as ContractStores['keys'],
    generations: port as ContractStores['generations'],
    claims: port as ContractStores['claims'],
    budgets: port as ContractStores['budgets'],
    accessLog: port as ContractStores['accessLog'],
    async reopen() {
      const again = await database.connect();
      if (connection !== database.connection) await connection.close();
      return onDatabase(database, again, streams);
    },
    async close() {
      if (connection !== database.connection) await connection.close();
      await database.drop();
    },
  };
}

function workOn(connection: MongoDatabase['connection'], streams: Streams): UnitOfWork {
  const rowWriter = mongoRowWriter(connection, 1);
  const directoryWriter = mongoDirectoryWriter(connection);
  let position = [...streams.values()].flat().length * 7;

  function append({ stream, expectedRevision, events }: StreamWrite): void {
    const stored = streams.get(stream) ?? [];
    const { events: committed, leaf } = sealCommit(Buffer.alloc(32), stream, expectedRevision, events);
    const recorded = committed.map((event, index) => {
      position += 7;
      return { ...event, leaf, stream, position, revision: expectedRevision + 1 + index };
    });
    streams.set(stream, [...stored, ...recorded]);
  }

  async function project({ stream, row, expectedRevision, events }: StreamWrite): Promise<void> {
    if (row?.of === 'directory') {
      mustBeWritten(await directoryWriter.write(row.records, expectedRevision));
    }
    if (row?.of !== 'token') return;
    const { life } = row.view.state;
    const createdPosition = streams.get(stream)?.[life?.createdRevision ?? -1]?.position ?? 0;
    const state = { ...row.view.state, life: life === null ? null : { ...life, createdPosition } };
    const at = events.at(-1)?.time ?? 0;
    mustBeWritten(await rowWriter.write({ ...row.view, state }, row.index, expectedRevision, at));
  }

  return {
    async commit({ writes }: Change): Promise<CommitOutcome> {
      const isBehind = (write: StreamWrite) => (streams.get(write.stream)?.length ?? 0) - 1 !== write.expectedRevision;
      if (writes.some(isBehind)) return { outcome: 'conflict' };
      for (const write of writes) append(write);
      for (const write of writes) await project(write);
      return { outcome: 'committed' };
    },
    follow: async () => new Set(),
    isOneTransaction: false,
  };
}

function mustBeWritten(outcome: string): void {
  if (outcome !== 'written') throw new Error(`the row is ${outcome}`);
}
