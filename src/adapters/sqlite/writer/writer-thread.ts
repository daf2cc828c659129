import { join } from 'node:path';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { FoundProblem } from '../../../ports/store-problem.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { createAccessWriter } from '../access-log/access-writer.js';
import { StoreBroken } from '../database/database-error.js';
import { type Attempt, createGroupCommit } from '../database/group-commit.js';
import { keysSchema } from '../database/keys-schema.js';
import { prepareStores } from '../database/prepare-stores.js';
import { vaultSchema } from '../database/vault-schema.js';
import { createAccessOperations, type StoreRequest } from './access-operations.js';
import { createErasure, truncateLog } from './erasure.js';
import { createIndexMaintenance } from './index-maintenance.js';
import { createKeyOperations, type Destroyed } from './key-operations.js';
import type { FromWriter, ToWriter, WriterOperation, WriterReply, WriterRequest } from './protocol.js';
import { createRequestQueue } from './request-queue.js';
import { createRotationOperations } from './rotation-operations.js';
import { createVaultOperations } from './vault-operations.js';
import { startWalCheckpoints } from './wal-checkpoints.js';

/** How long the log of `vault.db` may keep the bytes of a removed row. */
const vaultTruncateMs = 30_000;

/**
 * Runs the thread that writes `vault.db` and `keys.db`, so that no commit ever blocks the thread that serves HTTP.
 * Requests that arrive during a commit form the next group. Tenants take turns (`request-queue.ts`).
 */
function start(port: MessagePort, dataDir: string): void {
  const { vault, keys } = prepareStores(dataDir);
  const commitVault = createGroupCommit(vault, 'vault.db', vaultSchema);
  const commitKeys = createGroupCommit(keys, 'keys.db', keysSchema);
  const searchIndex = createIndexMaintenance({
    database: vault,
    commitGroup: commitVault,
    onErased: () => {
      vaultTimer ??= setTimeout(truncateVault, vaultTruncateMs);
    },
    onBroken: broken,
  });
  const ofKeys = { ...createKeyOperations(keys), ...createRotationOperations(keys) };
  const operations = { ...createVaultOperations(vault), ...ofKeys, erase_postings: searchIndex.erase };
  const isOfKeys = ({ operation }: StoreRequest): boolean => Object.hasOwn(ofKeys, operation);
  const checkpoints = startWalCheckpoints();
  const vaultFile = { of: 'vault.db', path: join(dataDir, 'vault.db'), identity: 'vault.db' } as const;
  const access = createAccessWriter(dataDir, ({ path, identity, entries }) =>
    checkpoints.note({ of: 'access log', path, identity }, entries),
  );
  const runAccess = createAccessOperations(access);
  const erasure = createErasure(keys, broken);
  // Start the timer at once: a crash may have left the bytes of removed rows in the log.
  let vaultTimer: NodeJS.Timeout | null = setTimeout(truncateVault, vaultTruncateMs);
  let scheduled = false;
  const queue = createRequestQueue(isOfKeys);
  let closing = false;
  let isBroken = false;

  function run(): void {
    if (isBroken) return;
    receive();
    scheduled = false;
    try {
      const truncations = queue.takeTruncations();
      // Access records first: a response waits for its record, and a write takes longer anyway.
      const accessGroup = queue.takeAccess();
      if (accessGroup.length > 0) replyAll(accessGroup, runAccess(accessGroup));
      // Keys first: a key is durable before the event that names it.
      commit('keys', queue.takeKeys(), commitKeys);
      commit('vault', searchIndex.isBehind() ? [] : queue.takeGroup(receive), commitVault);
      // Outside of any transaction, because an open transaction would block the checkpoint.
      if (truncations.length > 0) {
        const answer = truncateLog(vault, 'vault.db');
        replyAll(
          truncations,
          truncations.map(() => ({ ok: true, answer })),
        );
      }
      erasure.settle();
      if (!queue.isEmpty()) schedule();
      else if (closing) void close().catch(broken);
    } catch (error) {
      broken(error);
    }
  }

  function receive(): void {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      take(next.message as ToWriter);
    }
  }

  function commit(
    of: 'vault' | 'keys',
    group: Iterable<StoreRequest>,
    commitGroup: ReturnType<typeof createGroupCommit>,
  ): void {
    const requests: StoreRequest[] = [];
    const works = function* () {
      for (const request of group) {
        requests.push(request);
        yield () => execute(request);
      }
    };
    const attempts = commitGroup(works());
    if (requests.length === 0) return;
    if (of === 'vault') {
      checkpoints.note(vaultFile, requests.length);
      searchIndex.proceed();
    }
    const replies: WriterReply[] = [];
    for (const [index, request] of requests.entries()) {
      const attempt = attempts[index];
      if (attempt === undefined) continue;
      if (attempt.ok && destroys(request)) eraseThenReply(request.id, attempt.answer as Destroyed);
      else if (attempt.ok && request.operation === 'empty_keys_log') flushThenReply(request.id);
      else replies.push(reply(request.id, attempt));
    }
    send({ message: 'replies', of, replies });
  }

  function replyAll(requests: readonly WriterRequest[], attempts: readonly Attempt[]): void {
    const replies = requests.flatMap(({ id }, index) => {
      const attempt = attempts[index];
      return attempt === undefined ? [] : [reply(id, attempt)];
    });
    send({ message: 'replies', of: 'access', replies });
  }

  function execute(request: StoreRequest): unknown {
    const operation = operations[request.operation as keyof typeof operations] as (input: unknown) => unknown;
    return operation(request.input);
  }

  function eraseThenReply(requestId: number, { keyIds, destroyedNow }: Destroyed): void {
    vaultTimer ??= setTimeout(truncateVault, vaultTruncateMs);
    erasure.erase(keyIds, destroyedNow, (ended) => replyErased(requestId, ended !== null, ended));
  }

  function flushThenReply(requestId: number): void {
    erasure.flush((isEmpty) => replyErased(requestId, isEmpty, null));
  }

  function replyErased(requestId: number, isErased: boolean, answer: unknown): void {
    const attempt: Attempt = isErased
      ? { ok: true, answer }
      : { ok: false, error: new StoreUnavailable('keys.db', 'log_not_emptied_yet') };
    send({ message: 'replies', of: 'keys', replies: [reply(requestId, attempt)] });
  }

  function truncateVault(): void {
    try {
      vaultTimer = truncateLog(vault, 'vault.db') ? null : setTimeout(truncateVault, 1_000);
    } catch (error) {
      broken(error);
    }
  }

  function take(message: ToWriter): void {
    if (message.message === 'close') closing = true;
    else for (const request of message.requests) queue.add(request);
    schedule();
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(run);
  }

  async function close(): Promise<void> {
    await checkpoints.close();
    erasure.close();
    searchIndex.close();
    if (vaultTimer !== null) clearTimeout(vaultTimer);
    truncateLog(vault, 'vault.db');
    vault.close();
    keys.close();
    access.close();
    port.close();
  }

  /** Ends all writing and closes the files. */
  function broken(error: unknown): void {
    if (isBroken) return;
    isBroken = true;
    send({ message: 'broken', problem: error instanceof Error ? error.message : 'the writer failed' });
    void checkpoints.close();
    erasure.stop();
    searchIndex.stop();
    if (vaultTimer !== null) clearTimeout(vaultTimer);
    vault.close();
    keys.close();
    access.close();
    port.close();
  }

  function send(message: FromWriter): void {
    port.postMessage(message);
  }

  port.on('message', take);
  searchIndex.eraseAll();
  send({ message: 'ready' });
}

const destroying: readonly WriterOperation[] = ['destroy_keys', 'destroy_tenant_keys', 'destroy_generation_key'];

function destroys(request: StoreRequest): boolean {
  return destroying.includes(request.operation);
}

function reply(id: number, attempt: Attempt): WriterReply {
  if (attempt.ok) return { id, ok: true, answer: attempt.answer };
  const { error } = attempt;
  if (error instanceof StoreUnavailable) return { id, ok: false, store: error.store, reason: error.reason };
  return { id, ok: false, store: null, reason: error.message };
}

/** Returns why the files cannot be opened, for the operator who starts the service. */
function startFailure(error: unknown): string | FoundProblem {
  if (error instanceof StoreBroken && error.found !== null) return error.found;
  if (!(error instanceof StoreUnavailable)) return error instanceof Error ? error.message : 'the writer failed';
  const { store, reason } = error;
  if (reason === 'full') return `the disk under ${store} is full. Free some space, then start again.`;
  return `another program holds a lock on ${store} (${reason}). Stop it, then start again.`;
}

if (parentPort !== null) {
  try {
    start(parentPort, (workerData as { dataDir: string }).dataDir);
  } catch (error) {
    parentPort.postMessage({ message: 'broken', problem: startFailure(error) } satisfies FromWriter);
    parentPort.close();
  }
}
