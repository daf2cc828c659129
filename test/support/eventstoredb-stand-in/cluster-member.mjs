import { readdirSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createEventStore } from './event-store.mjs';
import { openJournal } from './journal.mjs';

/**
 * The content of `cluster.json` in the shared directory. The test that runs the cluster decides the elections. For an
 * election, it writes a higher term with the new leader. While there is no majority, the leader is null.
 * @typedef {{ term: number, leader: number | null, ports: number[], isAlive: boolean[] }} ClusterState
 * @typedef {{ endpoint: { host: string, port: number } | null }} NotLeader
 * @typedef {Awaited<ReturnType<typeof createEventStore>>} EventStore
 * @typedef {{ store(): Promise<EventStore | NotLeader>, state(): ClusterState | null }} Member
 */

/**
 * Creates one process of a cluster. The processes do not replicate. Instead, they share a directory, and the leader of
 * each term writes to a separate file. The first line of that file states which part of the earlier files is valid. If
 * a deposed leader continues to write, its events come after that part, so they are never acknowledged and are lost. A
 * real server loses such events too, because it truncates its log.
 * @param {string} directory
 * @param {number} index
 * @param {{ knowsRepeats: boolean }} options
 * @returns {Member}
 */
export function clusterMember(directory, index, options) {
  let term = 0;
  /** @type {Promise<EventStore> | null} */
  let opened = null;
  /**
   * The journals of all terms in which this process was the leader. A write from an earlier term may still be in
   * progress.
   * @type {unknown[]}
   */
  const journals = [];

  /** @returns {ClusterState} */
  const state = () => JSON.parse(readFileSync(join(directory, 'cluster.json'), 'utf8'));

  return {
    state,
    async store() {
      const { term: newest, leader, ports } = state();
      if (leader !== index) {
        return { endpoint: leader === null ? null : { host: '127.0.0.1', port: ports[leader] ?? 0 } };
      }
      if (newest !== term || opened === null) {
        term = newest;
        opened = lead(newest);
        opened.catch(() => undefined);
      }
      return opened;
    },
  };

  /** @param {number} led */
  async function lead(led) {
    const name = `appends-${led}.jsonl`;
    const terms = readdirSync(directory).flatMap(
      (file) => Number(/^appends-(\d+)\.jsonl$/.exec(file)?.[1] ?? Number.NaN) || [],
    );
    if (!terms.includes(led)) {
      const last = Math.max(0, ...terms);
      /** @type {Record<string, number>} */
      const before = last === 0 ? {} : { ...headerOf(last).before, [last]: linesOf(last).length };
      const file = await open(join(directory, name), 'wx');
      await file.appendFile(`${JSON.stringify({ before })}\n`);
      await file.datasync();
      await file.close();
    }
    const { before } = headerOf(led);
    const earlier = Object.entries(before).flatMap(([earlierTerm, lines]) =>
      linesOf(Number(earlierTerm)).slice(1, lines),
    );
    const journal = await openJournal(directory, name);
    journals.push(journal);
    const recovered = [...earlier.map((line) => JSON.parse(line)), ...journal.recovered.slice(1)];
    return createEventStore(
      {
        recovered,
        async write(appends) {
          await journal.write(appends);
          const { term: newest, leader } = state();
          if (newest !== led || leader !== index) throw new Error('deposed');
        },
      },
      options,
    );
  }

  /** @param {number} of @returns {string[]} */
  function linesOf(of) {
    return readFileSync(join(directory, `appends-${of}.jsonl`), 'utf8')
      .split('\n')
      .slice(0, -1);
  }

  /** @param {number} of @returns {{ before: Record<string, number> }} */
  function headerOf(of) {
    return JSON.parse(linesOf(of)[0] ?? '{"before":{}}');
  }
}

/** Returns the member for a single server, which is always the leader. @param {EventStore} store @returns {Member} */
export function soleMember(store) {
  return { store: async () => store, state: () => null };
}
