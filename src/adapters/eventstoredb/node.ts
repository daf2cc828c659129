import { EventStoreDBClient } from '@eventstore/db-client';
import type { Endpoint, EventStoreDbAddress } from './address.js';
import { type AppendStream, openAppendStream } from './append-stream.js';
import { kindOf, noAnswer } from './failure.js';

const tickMs = 250;
/** A node is given up after two seconds (8 ticks) of silence while calls wait for it. */
const silentTicksMax = 8;

/** A connection to one node. It is usable as long as the node leads and responds. */
export type Node = {
  readonly endpoint: Endpoint;
  readonly client: EventStoreDBClient;
  readonly appends: AppendStream;
  /** Call this on each sign of life, such as an event in a long read. */
  heard(): void;
  /** Makes a call. Rejects if the call does, or with StoreUnavailable as soon as the node is given up. */
  run<T>(call: () => Promise<T>): Promise<T>;
  /** Gives up the node, ending all its calls and connections. */
  close(): void;
};

/** The client for reads. The library's `dispose` leaves the connection open. */
class ReadClient extends EventStoreDBClient {
  async close(): Promise<void> {
    await this.dispose();
    (await this.getChannel()).close();
  }
}

/**
 * Opens a node. `number` differs for each node that this process opens. Calls `onLost` once, when the node is no longer
 * the leader, cannot be reached, or stays silent.
 */
export function openNode(
  endpoint: Endpoint,
  { tls, user }: EventStoreDbAddress,
  number: number,
  onLost: () => void,
): Node {
  // gRPC shares an open connection, even one that hangs, between clients with equal options, so each client gets
  // different options.
  const keepAliveInterval = 10_000 + (number % 1_000);
  const client = new ReadClient(
    { endpoint: { ...endpoint }, keepAliveInterval },
    tls === null
      ? { insecure: true }
      : { insecure: false, ...(tls.rootCertificate === null ? {} : { rootCertificate: tls.rootCertificate }) },
    ...(user === null ? [] : [user]),
  );
  const waiting = new Set<(error: Error) => void>();
  let isLost = false;
  let silentTicks = 0;
  let watch: NodeJS.Timeout | undefined;

  const heard = () => {
    silentTicks = 0;
  };
  const close = () => {
    if (isLost) return;
    isLost = true;
    clearInterval(watch);
    for (const fail of waiting) fail(noAnswer());
    waiting.clear();
    appends.close();
    client.close().catch(() => undefined);
    onLost();
  };
  const appends = openAppendStream(endpoint, { tls, user }, { heard, failed: () => setImmediate(close) });

  return {
    ...{ endpoint, client, appends, heard, close },
    run<T>(call: () => Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        if (isLost) return reject(noAnswer());
        waiting.add(reject);
        if (waiting.size === 1) {
          silentTicks = 0;
          // Counts ticks rather than time, because a process that was suspended counts only one tick when it resumes.
          watch = setInterval(() => {
            silentTicks += 1;
            if (silentTicks > silentTicksMax) close();
          }, tickMs);
        }
        const end = () => {
          waiting.delete(reject);
          if (waiting.size === 0) clearInterval(watch);
        };
        call().then(
          (value) => {
            heard();
            end();
            resolve(value);
          },
          (error: unknown) => {
            end();
            const kind = kindOf(error);
            if (kind === 'lasting') heard();
            reject(error);
            if (kind === 'lost') close();
          },
        );
      });
    },
  };
}
