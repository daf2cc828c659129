import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { type Endpoint, type EventStoreDbAddress, nameOf } from './address.js';
import { kindOf, noAnswer, translated } from './failure.js';
import { findLeader } from './gossip.js';
import { type Node, openNode } from './node.js';

const pauseMs = 100;

/** Runs calls of one kind, and limits how many of them run at the same time. */
export type Slots = <T>(work: () => Promise<T>) => Promise<T>;

export type Attempt<T> = (node: Node, leftMs: number, isFirst: boolean) => Promise<T>;

/** A connection to the EventStoreDB node that is currently the leader. */
export type Connection = {
  /**
   * Makes a call to the leader. If there is no leader, or the leader is busy or cannot be reached, retries the call for
   * at most `limitMs`. Each attempt receives the remaining time in ms. Throws StoreUnavailable when the time is up.
   * Throws permanent errors immediately.
   */
  call<T>(slots: Slots, limitMs: number, attempt: Attempt<T>): Promise<T>;
  close(): void;
};

export const slotsFor = (count: number): Slots => pLimit(count);

/**
 * Connects to the leader when the first call is made. When that connection is lost, connects to the next leader. Finds
 * the leader without the EventStoreDB client, for two reasons. Once that client has failed to find a leader, it does
 * not recover. It also keeps reconnecting to a frozen leader as long as the other nodes report that node as the leader.
 */
export function connectTo(address: EventStoreDbAddress): Connection {
  let current: Promise<Node> | null = null;
  let members: readonly Endpoint[] = [];
  let opened = 0;

  function leader(): Promise<Node> {
    if (current !== null) return current;
    const opening = open(() => {
      if (current === opening) current = null;
    });
    current = opening;
    opening.catch(() => {
      if (current === opening) current = null;
    });
    return opening;
  }

  async function open(onLost: () => void): Promise<Node> {
    const [first] = address.hosts;
    if (first === undefined) throw noAnswer();
    let endpoint = first;
    if (address.isCluster) {
      // Queries not only the configured hosts but also the members that were seen earlier. The configured hosts might
      // all be down, or the address might contain only a single DNS name.
      const hosts = new Map([...address.hosts, ...members].map((host) => [nameOf(host), host]));
      const found = await findLeader([...hosts.values()], address.tls);
      endpoint = found.leader;
      members = found.members;
    }
    opened += 1;
    return openNode(endpoint, address, opened, onLost);
  }

  return {
    async call(slots, limitMs, attempt) {
      const until = performance.now() + limitMs;
      let earlier: unknown = null;
      for (let isFirst = true; ; isFirst = false) {
        try {
          return await slots(async () => {
            const leftMs = until - performance.now();
            if (leftMs <= 0) throw noAnswer();
            const node = await within(leftMs, leader());
            return node.run(() => attempt(node, until - performance.now(), isFirst));
          });
        } catch (error) {
          // If the time limit interrupts a retry, the previous attempt's error says more about the cause.
          const isOver = performance.now() + pauseMs > until;
          if (isOver && isNoAnswer(error) && earlier !== null) throw translated(earlier);
          if (isOver || kindOf(error) === 'lasting') throw translated(error);
          earlier = error;
        }
        await wait(pauseMs * (0.5 + Math.random() / 2));
      }
    },
    close() {
      current?.then((node) => node.close()).catch(() => undefined);
    },
  };
}

function isNoAnswer(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.reason === noAnswer().reason;
}

/** Settles in the same way as `work`, but rejects with StoreUnavailable if `work` takes longer than `limitMs`. */
export function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(noAnswer()), Math.max(0, limitMs));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
