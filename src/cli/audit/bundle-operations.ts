import { z } from 'zod';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { signBundle, unsignedManifest } from '../../audit/bundle-manifest.js';
import { createCheckpointer } from '../../audit/checkpointer.js';
import { refOfTokenStream } from '../../events/access-log/entity-ref.js';
import { type Checkpoint, checkpointStream, readCheckpointEvent } from '../../events/audit/checkpoint.js';
import { endsCommit, type ProvenClear } from '../../events/commit.js';
import { endsToken } from '../../events/tokens/catalogue.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import type { Service } from '../../http/service.js';
import { logIdentity } from '../../vault/open-log.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import { applicationOperation } from '../operations/as-application.js';
import { OperationFailed } from '../operations/operation.js';
import { columnsOf } from './audit-records-operation.js';

/** The maximum number of tokens in one bundle. */
export const bundleTokensMax = 1_000;
const eventsPerPage = 1_000;
const entriesPerPage = 1_000;

export type BundleToken = {
  readonly id: string;
  readonly stream: string;
  /** The type of the event that ended the token's last life, or null for a live token. */
  readonly ended_by: string | null;
};

/**
 * Returns the data that is needed to begin a bundle: the streams of the tokens in `ids`, and a new checkpoint that
 * covers the whole log. `ids` is null for a bundle about a period. Also writes to the access log that the caller
 * makes the bundle. If `erasures` is `reject`, fails for a token that has ended, before anything is written.
 */
export const bundleBegin = applicationOperation(
  z.object({
    key: z.string(),
    ids: z.array(z.string()).min(1).max(bundleTokensMax).nullable(),
    erasures: z.enum(['state', 'reject']).default('state'),
  }),
  ['log:read'],
  async (service, context, { ids, erasures }) => {
    const { vault } = service;
    const { tenantId } = context.caller;
    const tenantKeys = await tenantKeysOf(vault, tenantId);
    const logId = (await logIdentity(vault.log))?.logId ?? '';
    const tokens: BundleToken[] = [];
    for (const id of ids ?? []) {
      const stream = tokenStream(tenantKeys.names, id);
      const [newest] = await vault.log.readNewest(stream, null, 1);
      if (newest === undefined)
        throw new OperationFailed(`no token with the id ${JSON.stringify(id)} has ever existed.`);
      const ended = await endOf(vault.log, newest);
      if (ended !== null && erasures === 'reject')
        throw new OperationFailed(
          `the token ${JSON.stringify(id)} was deleted or has expired, and only an operator gets its statement of ` +
            'erasure. Omit its id, or sign in with an operator code as well.',
        );
      tokens.push({ id, stream, ended_by: ended });
    }
    for (const { id } of tokens)
      await recordManagementRead(vault, context, 'token', id, 'evidence bundle made for the token');
    if (ids === null) await recordManagementRead(vault, context, 'log', null, 'evidence bundle made for a period');
    await vault.recorder.now([]);
    await signNow(service, logId);
    const [event] = await vault.log.readNewest(checkpointStream, null, 1);
    if (event === undefined) throw new OperationFailed('the log has no checkpoint.');
    const newest = readCheckpointEvent(event);
    await vault.confirmReads(context.beganAt);
    const { publicKey } = await vault.keys.signingKey();
    return {
      log_id: logId,
      tenant_id: tenantId,
      public_key: publicKey,
      tokens,
      now: vault.clock.now(),
      upTo: event.position,
      count: newest.count,
      checkpoint: newest.number,
    };
  },
);

/**
 * Returns the type of the event that ended the token, or null for a live token. Skips fence events, because they change
 * nothing.
 */
async function endOf(log: Service['vault']['log'], newest: ProvenClear): Promise<string | null> {
  let event: ProvenClear | undefined = newest;
  while (event?.type === 'token.fenced') [event] = await log.readNewest(event.stream, event.revision, 1);
  return event !== undefined && endsToken(event.type) ? event.type : null;
}

/**
 * Signs a checkpoint that covers everything that has been stored so far. The running service delivers the checkpoint to
 * the anchor.
 */
async function signNow({ vault }: Service, logId: string): Promise<void> {
  const { log, chain, keys, accessLog, clock, random } = vault;
  const metrics = { anchorFailed: () => undefined };
  const onError = (error: unknown): never => {
    throw error;
  };
  await createCheckpointer({
    log,
    chain,
    keys,
    accessLog,
    clock,
    random,
    metrics,
    logId,
    anchor: null,
    onError,
  }).run('grown');
}

const scope = {
  /** The streams whose events are in scope. Null selects every event of the tenant in the period. */
  streams: z.array(z.string()).max(bundleTokensMax).nullable(),
  from: z.int().nullable(),
  to: z.int().nullable(),
};

/**
 * An event in a bundle. It contains everything covered by the event's digest, with a hash in place of the ciphertexts.
 */
export type BundleEvent = {
  /** The Merkle tree index of the commit that contains the event. */
  readonly index: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly tenant: string;
  readonly actor: string;
  readonly time: number;
  readonly cmd: string | null;
  readonly clear: ProvenClear['clear'];
  readonly first: number;
  readonly digests: string | null;
  readonly sealed_hash: string;
};

/**
 * Reads a page of the log. Returns the leaves of the commits on this page, the events in scope, and the checkpoints.
 * `count` is the number of commits up to the position `after`. Only events of the caller's tenant are in scope.
 */
export const bundleEvents = applicationOperation(
  z.object({ key: z.string(), after: z.int().min(0), upTo: z.int().min(0), count: z.int().min(0), ...scope }),
  ['log:read'],
  async (service, { caller }, { after, upTo, count, streams, from, to }) => {
    const wanted = streams === null ? null : new Set(streams);
    const page = await service.vault.log.readClear(after, eventsPerPage);
    const leaves: Uint8Array[] = [];
    const events: BundleEvent[] = [];
    const checkpoints: Checkpoint[] = [];
    for (const event of page) {
      if (event.position > upTo) break;
      if (event.stream === checkpointStream) checkpoints.push(readCheckpointEvent(event));
      const isWanted =
        event.tenantId === caller.tenantId &&
        (wanted === null || wanted.has(event.stream)) &&
        (from === null || event.time >= from) &&
        (to === null || event.time < to);
      if (isWanted) events.push(bundleEvent(event, count + leaves.length));
      if (endsCommit(event)) leaves.push(event.leaf);
    }
    const last = page.at(-1)?.position ?? upTo;
    return {
      leaves: Buffer.concat(leaves).toString('base64'),
      events,
      checkpoints,
      next: last < upTo ? last : null,
    };
  },
);

function bundleEvent(event: ProvenClear, index: number): BundleEvent {
  const { stream, revision, id, type, version, tenantId, actorId, time, cmd, clear, proof } = event;
  const { first, digests, sealedHash } = proof;
  return {
    index,
    stream,
    revision,
    id,
    type,
    version,
    tenant: tenantId,
    actor: actorId,
    time,
    cmd,
    clear,
    first,
    digests: digests === null ? null : Buffer.from(digests).toString('base64'),
    sealed_hash: Buffer.from(sealedHash).toString('hex'),
  };
}

/** Returns a page of the access log entries about one token, newest first. */
export const bundleReads = applicationOperation(
  z.object({ key: z.string(), stream: z.string(), to: z.int(), offset: z.int().min(0) }),
  ['log:read'],
  async ({ vault }, { caller }, { stream, to, offset }) => {
    const asked = { entityType: 'token', entityRef: refOfTokenStream(stream), operation: null, from: 0, to };
    const { total, entries } = await vault.accessLog.query(caller.tenantId, asked, { offset, limit: entriesPerPage });
    return { total, reads: entries.map((entry) => ({ stream, ...columnsOf(entry) })) };
  },
);

/** Signs a bundle's manifest with the key that signs checkpoints. */
export const bundleSign = applicationOperation(
  z.object({ key: z.string(), manifest: unsignedManifest.omit({ signed_by: true }) }),
  ['log:read'],
  async (service, { caller }, { manifest }) => {
    if (manifest.tenant_id !== caller.tenantId) throw new OperationFailed('the application belongs to another tenant.');
    return signBundle(await service.vault.keys.signingKey(), manifest);
  },
);
