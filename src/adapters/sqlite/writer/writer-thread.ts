import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { type Attempt, createGroupCommit } from '../database/group-commit.js';
import { keysSchema } from '../database/keys-schema.js';
import { vaultSchema } from '../database/vault-schema.js';
import { sqliteEventChain } from '../event-chain.js';
import { createJournal, type JournalGroup } from '../journal/journal.js';
import { createAccessJournal, type RecordGroup } from './access-journal.js';
import { type FromBackground, startBackground } from './background.js';
import { appliedIn } from './complete-vault.js';
import { createErasure, syncLog } from './erasure.js';
import { createIndexMaintenance } from './index-maintenance.js';
import { createKeyOperations, type Destroyed } from './key-operations.js';
import { problemOf, startFailure } from './operator-problem.js';
import { prepareStores } from './prepare-stores.js';
import type { FromWriter, StoreRequest, ToWriter, WriterOperation, WriterReply, WriterRequest } from './protocol.js';
import { createRequestQueue } from './request-queue.js';
import { createRotationOperations } from './rotation-operations.js';
import { createGroupSeal } from './seal-group.js';
import { failureOf } from './thread-failure.js';
import { createVaultOperations } from './vault-operations.js';
import { createVaultTruncation } from './vault-truncation.js';

/**
 * The approximate overhead of an append, in bytes. Each append adds this much to the write-ahead log of the journal in
 * addition to its data.
 */
const appendBytes = 12 * 1024;
/**
 * If the changes of a group are on average larger than this, in bytes, the group counts towards the next checkpoint of
 * `vault.db` by the size of its changes, and not by the number of its requests.
 */
const changeBytes = 16 * 1024;

/**
 * Runs the writer thread, which writes `journal.db`, `vault.db` and `keys.db`. Commits run on this separate thread so
 * that they do not block the thread that serves HTTP requests. Requests that arrive during a commit form the next
 * group. Tenants take turns (`request-queue.ts`).
 */
function start(port: MessagePort, dataDir: string): void {
  const { vault, keys, journal: journalFile, notice } = prepareStores(dataDir);
  const commitVault = createGroupCommit(vault, 'vault.db', vaultSchema);
  const commitKeys = createGroupCommit(keys, 'keys.db', keysSchema);
  const searchIndex = createIndexMaintenance({
    database: vault,
    commitGroup: commitVault,
    onErased: () => truncation.soon(),
    onDamaged: (damage) => send({ message: 'index_damaged', found: damage?.found ?? null }),
    onBroken: broken,
  });
  const ofKeys = { ...createKeyOperations(keys, sqliteEventChain(vault).newest), ...createRotationOperations(keys) };
  const operations = { ...createVaultOperations(vault), ...ofKeys, erase_postings: searchIndex.erase };
  const isOfKeys = ({ operation }: StoreRequest): boolean => Object.hasOwn(ofKeys, operation);
  const journal = createJournal(journalFile, appliedIn(vault));
  const seal = createGroupSeal(vault);
  const background = startBackground(dataDir, onDone, broken);
  const access = createAccessJournal({
    dataDir,
    journal,
    background,
    reply: ({ id }, attempt) => send({ message: 'replies', of: 'access', replies: [reply(id, attempt)] }),
    onMoved,
  });
  const erasure = createErasure(keys, broken);
  const truncation = createVaultTruncation({
    vault,
    journal,
    journalFile,
    onHeldUp: (file) => send({ message: 'held_up', file }),
    onBroken: broken,
  });
  let scheduled = false;
  const queue = createRequestQueue(isOfKeys);
  let erasedReplies: WriterReply[] = [];
  let closing = false;
  let isClosing = false;
  let isBroken = false;

  function run(): void {
    if (isBroken) return;
    receive();
    scheduled = false;
    try {
      const truncations = queue.takeTruncations();
      for (const request of queue.takeMoves()) {
        if (request.operation === 'move_access') access.settle(request);
        else access.drop(request);
      }
      // Commits to `keys.db` first. A key must be durable before the event that refers to it.
      commitToKeys();
      commitToVault();
      // Runs after all transactions have ended, because an open transaction would block the checkpoint.
      if (truncations.length > 0) {
        const attempt: Attempt = { ok: true, answer: truncation.now() };
        send({ message: 'replies', of: 'access', replies: truncations.map(({ id }) => reply(id, attempt)) });
      }
      erasure.settle();
      if (access.isHeld() && queue.hasRecords()) access.startMove();
      if (!queue.isEmpty(access.isHeld())) schedule();
      else if (closing && queue.isEmpty()) void close().catch(broken);
    } catch (error) {
      broken(error);
    }
  }

  function receive(): void {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      take(next.message as ToWriter);
    }
  }

  function commitToKeys(): void {
    const requests = queue.takeKeys();
    if (requests.length === 0) return;
    const attempts = commitKeys(requests.map((request) => () => execute(request)));
    const replies: WriterReply[] = [];
    for (const [index, request] of requests.entries()) {
      const attempt = attempts[index];
      if (attempt === undefined) continue;
      if (attempt.ok && destroys(request)) eraseThenReply(request.id, attempt.answer as Destroyed);
      else if (attempt.ok && request.operation === 'empty_keys_log') flushThenReply(request.id);
      else replies.push(reply(request.id, attempt));
    }
    send({ message: 'replies', of: 'keys', replies });
  }

  /**
   * Applies a group of requests to `vault.db`, and makes the group and the waiting access records durable together. A
   * single sync of the journal is enough for both (ADR 63). Access records that arrive while the group runs are
   * included.
   */
  function commitToVault(): void {
    const requests: StoreRequest[] = [];
    const attempts = commitVault(worksOfGroup(requests), (made) => seal.begin(requests, made));
    const group = seal.end(attempts.some(({ ok }) => ok));
    if (requests.length > 0) {
      background.note('vault.db', Math.max(requests.length, (group?.changes.length ?? 0) / changeBytes));
      searchIndex.lookSoon();
    }
    if (!access.isHeld()) receive();
    const records = access.group([...(access.isHeld() ? [] : queue.takeRecords()), ...queue.takeLastRecords()]);
    const failed = persist(group, records);
    replyToRecords(records, failed);
    if (requests.length > 0) replyAll('vault', requests, attempts);
  }

  /** Takes the requests of a group, adds each to `requests`, and returns its work. */
  function* worksOfGroup(requests: StoreRequest[]): Generator<() => unknown> {
    for (const request of searchIndex.isBehind() ? [] : queue.takeGroup(receive)) {
      requests.push(request);
      yield () => execute(request);
    }
  }

  /**
   * Appends a group and access records to the journal. Returns null if the access records are durable. Otherwise
   * returns an error with the reason. In both cases, the group is durable when this function returns.
   */
  function persist(group: JournalGroup | null, records: RecordGroup): Error | null {
    if (group === null && records.batches.length === 0) return null;
    const failed = journal.append(group, records.batches);
    if (failed === null) {
      access.appended(records);
      const lines = records.batches.reduce((sum, batch) => sum + batch.lines.length, 0);
      background.note('journal.db', appendBytes + lines + (group?.changes.length ?? 0));
    } else if (group !== null) {
      // Makes `vault.db` durable without the journal. This is needed if the journal cannot be written, for example
      // because the disk is full. The group is already committed to `vault.db`, and a sync needs no additional disk
      // space. The next group in the journal follows this group.
      syncLog(vault);
    }
    return failed;
  }

  function replyToRecords({ recorded }: RecordGroup, failed: Error | null): void {
    const attempts = recorded.map(({ error }): Attempt => {
      const why = error ?? (failed === null ? null : new StoreUnavailable('access log', reasonOf(failed)));
      return why === null ? { ok: true, answer: null } : { ok: false, error: why };
    });
    const requests = recorded.map(({ request }) => request);
    if (requests.length > 0) replyAll('access', requests, attempts);
  }

  function replyAll(of: 'vault' | 'access', requests: readonly WriterRequest[], attempts: readonly Attempt[]): void {
    const replies = requests.flatMap(({ id }, index) => {
      const attempt = attempts[index];
      return attempt === undefined ? [] : [reply(id, attempt)];
    });
    send({ message: 'replies', of, replies });
  }

  function execute(request: StoreRequest): unknown {
    const operation = operations[request.operation as keyof typeof operations] as (input: unknown) => unknown;
    return operation(request.input);
  }

  function onDone(done: FromBackground): void {
    if (isBroken) return;
    try {
      if (done.task !== 'checkpoint') access.onDone(done);
      else if (done.applied !== null) journal.groupsAreStored(done.applied);
    } catch (error) {
      broken(error);
    }
  }

  /** Rejects the waiting access records if a move has failed. Called after each move. */
  function onMoved(failure: Error | null): void {
    if (failure !== null) {
      const records = queue.takeRecords(Number.POSITIVE_INFINITY);
      const attempt: Attempt = { ok: false, error: failure };
      replyAll(
        'access',
        records,
        records.map(() => attempt),
      );
    }
    schedule();
  }

  function eraseThenReply(requestId: number, { keyIds, destroyedNow }: Destroyed): void {
    truncation.soon();
    erasure.erase(keyIds, destroyedNow, (ended) => replyErased(requestId, ended !== null, ended));
  }

  function flushThenReply(requestId: number): void {
    erasure.flush((isEmpty) => replyErased(requestId, isEmpty, null));
  }

  /** Adds a reply to the list of replies that wait for the same checkpoint. All of them are sent together. */
  function replyErased(requestId: number, isErased: boolean, answer: unknown): void {
    const attempt: Attempt = isErased
      ? { ok: true, answer }
      : { ok: false, error: new StoreUnavailable('keys.db', 'log_not_emptied_yet') };
    if (erasedReplies.length === 0) queueMicrotask(sendErased);
    erasedReplies.push(reply(requestId, attempt));
  }

  function sendErased(): void {
    if (erasedReplies.length > 0) send({ message: 'replies', of: 'keys', replies: erasedReplies });
    erasedReplies = [];
  }

  function take(message: ToWriter): void {
    if (message.message === 'close') closing = true;
    else for (const request of message.requests) queue.add(request);
    schedule();
  }

  function schedule(): void {
    if (scheduled || isBroken) return;
    scheduled = true;
    setImmediate(run);
  }

  async function close(): Promise<void> {
    if (isClosing) return;
    isClosing = true;
    await access.moved();
    await background.close();
    erasure.close();
    searchIndex.close();
    sendErased();
    // If `vault.db` and the journal end at different groups, the vault may have refused to start. In that case, the
    // journal must stay unchanged.
    if (!journal.isElsewhere()) truncation.now();
    end();
  }

  /** Stops all writes, and closes the files. */
  function broken(error: unknown): void {
    if (isBroken) return;
    isBroken = true;
    send({ message: 'broken', problem: problemOf(error) });
    void background.close();
    erasure.stop();
    searchIndex.stop();
    end();
  }

  function end(): void {
    access.stop();
    truncation.stop();
    for (const database of [vault, keys, journalFile]) database.close();
    port.close();
  }

  function send(message: FromWriter): void {
    port.postMessage(message);
  }

  port.on('message', take);
  searchIndex.eraseAll();
  // A crash may have left the bytes of removed rows in the write-ahead log or the journal.
  truncation.soon();
  send({ message: 'ready', notice });
}

function reasonOf(error: Error): string {
  return error instanceof StoreUnavailable ? error.reason : 'broken';
}

const destroying: readonly WriterOperation[] = ['destroy_keys', 'destroy_tenant_keys', 'destroy_generation_key'];

function destroys(request: StoreRequest): boolean {
  return destroying.includes(request.operation);
}

function reply(id: number, attempt: Attempt): WriterReply {
  return attempt.ok ? { id, ok: true, answer: attempt.answer } : { id, ok: false, failure: failureOf(attempt.error) };
}

if (parentPort !== null) {
  const { dataDir } = workerData as { dataDir: string };
  try {
    start(parentPort, dataDir);
  } catch (error) {
    parentPort.postMessage({ message: 'broken', problem: startFailure(error, dataDir) } satisfies FromWriter);
    parentPort.close();
  }
}
