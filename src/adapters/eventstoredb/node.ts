import { EventStoreDBClient } from '@eventstore/db-client';
import type { Endpoint, EventStoreDbAddress } from './address.js';
import { type AppendStream, openAppendStream } from './append-stream.js';
import { kindOf, noAnswer } from './failure.js';

const tickMs = 250;
/**
 * How many ticks a node can go without responding while calls are waiting for it. After that, the node is abandoned.
 * Eight ticks take two seconds.
 */
const silentTicksMax = 8;

/** A connection to one node. It can be used as long as the node is the leader and responds. */
export type Node = {
  readonly endpoint: Endpoint;
  readonly client: EventStoreDBClient;
  readonly appends: AppendStream;
  /**
   * Records that the node is alive. Call this whenever the node responds, for example when an event arrives during a
   * long read.
   */
  heard(): void;
  /**
   * Makes a call to the node. Rejects if the call fails. If the node is abandoned, rejects immediately with
   * StoreUnavailable.
   */
  run<T>(call: () => Promise<T>): Promise<T>;
  /** Abandons the node. Rejects all calls to the node and closes its connections. */
  close(): void;
};

/** The client for reads. Its `close` method also closes the connection, which the library's `dispose` leaves open. */
class ReadClient extends EventStoreDBClient {
  async close(): Promise<void> {
    await this.dispose();
    (await this.getChannel()).close();
  }
}

/**
 * Opens the connections to a node. Each call to this function needs a different `number`. Calls `onLost` once, when the
 * node is no longer the leader, cannot be reached, stops responding, or is closed.
 */
export function openNode(
  endpoint: Endpoint,
  { tls, user }: EventStoreDbAddress,
  number: number,
  onLost: () => void,
): Node {
  // Gives each client different options. gRPC lets clients with equal options share one connection, even if that
  // connection no longer responds.
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
    endpoint,
    client,
    appends,
    heard,
    close,
    run<T>(call: () => Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        if (isLost) return reject(noAnswer());
        waiting.add(reject);
        if (waiting.size === 1) {
          silentTicks = 0;
          // Counts ticks instead of elapsed time. When a suspended process resumes, it counts only one tick, so it does
          // not abandon the node.
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
