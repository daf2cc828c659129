import { randomUUID } from 'node:crypto';
import { atMost } from '../../../domain/at-most.js';
import { withCreatedPosition } from '../../../domain/token/token-state.js';
import type { DirectoryWriter } from '../../../ports/directory.js';
import type { AppendOutcome } from '../../../ports/event-log.js';
import { keyNamedWithinMs } from '../../../ports/key-store.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { TokenRowWriter } from '../../../ports/token-rows.js';
import {
  type Change,
  type CommitOutcome,
  type StreamWrite,
  type UnitOfWork,
  violating,
} from '../../../ports/unit-of-work.js';
import type { Batches } from './batches.js';
import type { createFingerprintClaims, HoldFingerprints } from './fingerprint-claims.js';
import { intentOf } from './intent.js';
import type { ClaimedWork, MongoClaims } from './mongo-claims.js';
import type { WorkDeps } from './work-deps.js';

const streamsAtOnce = 16;

type Deps = Pick<WorkDeps, 'log' | 'now' | 'project'> & {
  readonly rows: TokenRowWriter;
  readonly directory: DirectoryWriter;
  readonly claims: MongoClaims;
  readonly fingerprints: ReturnType<typeof createFingerprintClaims>;
  readonly batches: Batches;
};

/** The steps that a change performs around its appends. */
type Steps = {
  /** Records in the claim which work is about to be stored. Returns false if another command owns the claim. */
  readonly intend: (work: ClaimedWork) => Promise<boolean>;
  readonly hold: HoldFingerprints;
  /** Reports a write whose events stay in the log, even if a later step fails. */
  readonly onStored: (write: StreamWrite) => void;
};

/**
 * Implements `UnitOfWork` on an event log and MongoDB, which cannot share a transaction (docs/design.md, "A write, step
 * by step"). Before each step that could be lost or repeated because of a crash, the process records the step. If the
 * process dies, the next process that finds the record settles the step. The log is authoritative, so a change takes
 * effect as soon as its event is appended. The row for the event is written either here or later by the runner.
 */
export function mongoUnitOfWork(needs: Deps): UnitOfWork {
  const { log, rows, directory, claims, fingerprints, batches, now, project } = needs;

  async function projectWrite(write: StreamWrite, positions: readonly number[]): Promise<void> {
    const { row, stream, expectedRevision, events } = write;
    if (row === null) return;
    if (row.of === 'directory') {
      const written = await directory.write(row.records, expectedRevision);
      if (written === 'gap') await project(events[0]?.tenantId ?? '', stream);
      return;
    }
    const view = { ...row.view, state: withCreatedPosition(row.view.state, expectedRevision, positions) };
    const written = await rows.write(view, row.index, expectedRevision, events.at(-1)?.time ?? 0);
    if (written === 'gap') await project(row.view.tenantId, stream);
  }

  async function append({ stream, expectedRevision, events }: StreamWrite): Promise<AppendOutcome> {
    const decidedAt = events[0]?.time ?? 0;
    // Threat: this process was suspended for too long after it created keys. Because no event referred to the keys in
    // time, they were destroyed as orphans. An event that refers to destroyed keys must not be appended.
    if (now() - decidedAt > keyNamedWithinMs) throw new StoreUnavailable('event log', 'stopped_too_long');
    return log.append(stream, expectedRevision, events);
  }

  async function storeOne(write: StreamWrite, { intend, hold, onStored }: Steps): Promise<CommitOutcome> {
    const claimed = await hold([write], null);
    if (claimed.outcome === 'duplicate') return claimed;
    if (!(await intend({ of: 'append', intent: intentOf(write) }))) {
      await fingerprints.release(claimed.held);
      return { outcome: 'claimed' };
    }
    const appended = await append(write);
    if (appended.outcome === 'conflict') {
      await fingerprints.release(claimed.held);
      // The command's decision was based on rows that may be out of date. Updates the rows before the command is
      // retried.
      if (write.row?.of === 'directory') await project(write.events[0]?.tenantId ?? '', write.stream);
      return { outcome: 'conflict' };
    }
    onStored(write);
    await projectWrite(write, appended.positions);
    return { outcome: 'committed' };
  }

  /** Stores each write independently. The caller decides again about the writes that failed and retries them. */
  async function storeEach(writes: readonly StreamWrite[], steps: Steps): Promise<CommitOutcome> {
    const withoutClaim = { ...steps, intend: async () => true };
    const outcomes = await atMost(streamsAtOnce, writes, (write) => storeOne(write, withoutClaim));
    const landed = outcomes.flatMap(({ outcome }, index) => (outcome === 'committed' ? [index] : []));
    return landed.length === writes.length ? { outcome: 'committed' } : { outcome: 'conflict', landed };
  }

  async function isBehind({ stream, expectedRevision }: StreamWrite): Promise<boolean> {
    const [newest] = await log.readNewest(stream, null, 1);
    return (newest?.revision ?? -1) !== expectedRevision;
  }

  /** Stores several creations. Either all of them are stored or none are. */
  async function storeBatch(writes: readonly StreamWrite[], { intend, hold, onStored }: Steps): Promise<CommitOutcome> {
    // Detects most conflicts before the first append. If a conflict is found at this point, there are no appends to
    // undo or to bar.
    const isTwice = new Set(writes.map(({ stream }) => stream)).size < writes.length;
    if (isTwice || (await atMost(streamsAtOnce, writes, isBehind)).includes(true)) return { outcome: 'conflict' };
    const id = randomUUID();
    for (const [index, { distinct }] of writes.entries()) {
      const twin = distinct === null ? undefined : violating(writes.slice(0, index), distinct);
      if (twin !== undefined) return { outcome: 'duplicate', write: index, stream: twin.stream };
    }
    const claimed = await hold(writes, id);
    if (claimed.outcome === 'duplicate') return claimed;
    const { held } = claimed;
    if (!(await batches.open(id, writes.map(intentOf)))) {
      await fingerprints.release(held);
      return { outcome: 'conflict' };
    }
    if (!(await intend({ of: 'batch', id }))) {
      await batches.cancel(id);
      await fingerprints.release(held);
      return { outcome: 'claimed' };
    }
    const appended = await atMost(streamsAtOnce, writes, append);
    if (appended.some(({ outcome }) => outcome === 'conflict')) {
      await batches.end(id);
      await fingerprints.release(held);
      return { outcome: 'conflict' };
    }
    // All events of the batch are in the log, so no process can undo the batch.
    writes.forEach(onStored);
    await batches.finish(id);
    await atMost(streamsAtOnce, writes, (write, index) => {
      const stored = appended[index];
      return projectWrite(write, stored?.outcome === 'appended' ? stored.positions : []);
    });
    await batches.shown(id);
    return { outcome: 'committed' };
  }

  async function store(writes: readonly StreamWrite[], steps: Steps): Promise<CommitOutcome> {
    const { intend } = steps;
    const [first, ...others] = writes;
    if (first === undefined) return { outcome: (await intend({ of: 'nothing' })) ? 'committed' : 'claimed' };
    if (others.length === 0) return storeOne(first, steps);
    if (writes.some(creates)) return storeBatch(writes, steps);
    const outcome = await storeEach(writes, steps);
    if (outcome.outcome === 'committed' && !(await intend({ of: 'nothing' }))) return { outcome: 'claimed' };
    return outcome;
  }

  async function commit({ writes, claim, onStored }: Change, hold: HoldFingerprints): Promise<CommitOutcome> {
    const steps: Steps = { intend: async () => true, hold, onStored: (write) => onStored?.(write) };
    if (claim === null) return store(writes, steps);
    const { cmd } = claim;
    // If `store` throws an error, the claim is not changed. A process that takes over the claim checks what was stored.
    const outcome = await store(writes, { ...steps, intend: (work) => claims.intend(claim, work) });
    if (outcome.outcome === 'committed') await claims.finish(cmd);
    else if (outcome.outcome !== 'claimed') await claims.withdraw(cmd);
    return outcome;
  }

  return {
    isOneTransaction: false,
    commit: (change) => fingerprints.during((hold) => commit(change, hold)),
    async follow(streams) {
      const read = () => rows.revisionsOf(streams.map(({ stream }) => stream));
      const before = await read();
      const behind = streams.filter(({ stream, revision }) => (before.get(stream) ?? -1) < revision);
      if (behind.length > 0) {
        await batches.settlePending(behind.map(({ stream }) => stream));
        await atMost(streamsAtOnce, behind, ({ tenantId, stream }) => project(tenantId, stream));
      }
      // Another process may have undone a batch after the first read. The batch is then no longer pending, and only the
      // row shows that the token is gone.
      const stored = behind.length > 0 ? await read() : before;
      const newer = streams.filter(({ stream, revision }) => (stored.get(stream) ?? -1) > revision);
      return new Set(newer.map(({ stream }) => stream));
    },
  };
}

function creates({ events }: StreamWrite): boolean {
  return events.some(({ type }) => type === 'token.created');
}
