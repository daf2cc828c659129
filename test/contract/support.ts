import { randomBytes, randomUUID } from 'node:crypto';
import type { JsonObject } from '#src/domain/json.js';
import { type NewEvent, noSealedParts } from '#src/events/event.js';
import type { KeyRing } from '#src/keys/key-ring.js';
import type { AccessLog } from '#src/ports/access-log.js';
import type { Budgets } from '#src/ports/budgets.js';
import type { Claims } from '#src/ports/claims.js';
import type { Directory } from '#src/ports/directory.js';
import type { ErasureProbe } from '#src/ports/erasure-probe.js';
import type { EventChain } from '#src/ports/event-chain.js';
import type { EventLog } from '#src/ports/event-log.js';
import type { Generations } from '#src/ports/generations.js';
import type { TokenRows } from '#src/ports/token-rows.js';
import type { Change, RowIndex, StreamWrite, UnitOfWork } from '#src/ports/unit-of-work.js';
import { type Stored, withTokenMac } from '#src/views/row-mac.js';
import { applyToView, emptyView, type TokenView } from '#src/views/token-view.js';
import type { manualClock } from '../support/manual-clock.js';

/** The ports that an adapter provides to the suites. Each call to `open` returns ports backed by new, empty stores. */
export type ContractStores = {
  readonly log: EventLog;
  readonly chain: EventChain;
  readonly work: UnitOfWork;
  readonly rows: TokenRows;
  readonly erasureProbe: ErasureProbe;
  readonly generations: Generations;
  readonly keys: KeyRing;
  readonly claims: Claims;
  readonly budgets: Budgets;
  readonly directory: Directory;
  readonly accessLog: AccessLog;
  readonly clock: ReturnType<typeof manualClock>;
  /**
   * Closes the stores and opens them again, as a restart does. If `rootKey` is present, the stores use it from then on.
   */
  reopen(rootKey?: Buffer): Promise<ContractStores>;
  close(): Promise<void>;
};

export type OpenStores = () => Promise<ContractStores>;

export const aDay = 24 * 3_600_000;
export const atNoon = Date.UTC(2026, 0, 31, 12);

export function aStream(): string {
  return `token-${randomBytes(32).toString('hex')}`;
}

export function aHash(): string {
  return randomBytes(32).toString('hex');
}

/** Returns bytes that contain every byte value once, followed by some random bytes. */
export function aBox(): Uint8Array {
  return Buffer.concat([Uint8Array.from({ length: 256 }, (_, byte) => byte), randomBytes(16)]);
}

/** Returns the bytes as a plain array, so that two buffers of different kinds can be compared by their content. */
export function bytes(box: Uint8Array | null): number[] | null {
  return box === null ? null : [...box];
}

export function anEvent(given: Partial<NewEvent> = {}): NewEvent {
  return {
    id: randomUUID(),
    type: 'test.happened',
    version: 1,
    tenantId: 'tenant',
    actorId: 'actor',
    time: atNoon,
    cmd: null,
    trace: null,
    clear: {},
    sealed: noSealedParts,
    ...given,
  };
}

type Created = {
  readonly tenantId?: string;
  readonly expiresAt?: number;
  readonly cvcPurgeAt?: number;
  readonly key?: string;
};

export function tokenCreated({
  tenantId = 'tenant',
  expiresAt,
  cvcPurgeAt,
  key = randomUUID(),
}: Created = {}): NewEvent {
  const clear: JsonObject = {
    token_type: 'card',
    key,
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(cvcPurgeAt === undefined ? {} : { cvc_key: randomUUID(), cvc_purge_at: cvcPurgeAt }),
  };
  const sealed = { content: aBox(), cvc: cvcPurgeAt === undefined ? null : aBox() };
  return anEvent({ type: 'token.created', tenantId, clear, sealed });
}

/**
 * Returns an event that encrypts the content with a new key, and leaves the cvc unchanged. If `expiresAt` is undefined,
 * the event removes the token's expiry.
 */
export function tokenUpdated({ tenantId = 'tenant', expiresAt, key = randomUUID() }: Created = {}): NewEvent {
  const times = expiresAt === undefined ? {} : { expires_at: expiresAt };
  const clear = { changed: ['metadata'], key, cvc: 'kept', ends: [], ...times };
  return anEvent({ type: 'token.updated', tenantId, clear, sealed: { content: aBox(), cvc: null } });
}

export function tokenDeleted(tenantId = 'tenant', time = atNoon): NewEvent {
  return anEvent({ type: 'token.deleted', tenantId, time, clear: { reason: 'request', ends: [] } });
}

export function tokenExpired(dueAt: number): NewEvent {
  return anEvent({ type: 'token.expired', clear: { due_at: dueAt, ends: [] } });
}

/** The key for the MACs of all rows in these suites. */
export const macKey = Buffer.alloc(32, 7);

/** Returns a write that adds these events to the token with the view `before`. The write contains the resulting row. */
export function tokenWrite(
  before: TokenView,
  events: readonly NewEvent[],
  given: {
    readonly index?: 'keep' | { readonly fingerprintHash: string; readonly terms?: readonly string[] };
    readonly distinct?: {
      readonly fingerprintHash: string;
      readonly now?: number;
      readonly others?: readonly string[];
    };
  } = {},
): StreamWrite & { readonly view: Stored<TokenView> } {
  const { stream } = before;
  const after = events.reduce(
    (folded, event) => applyToView(folded, { ...event, stream, revision: folded.state.revision + 1, position: 0 }),
    before,
  );
  const view = withTokenMac(macKey, after);
  const { index: found = { fingerprintHash: aHash() }, distinct } = given;
  const index: RowIndex = found === 'keep' ? found : { ...found, terms: { 1: found.terms ?? [] } };
  return {
    stream,
    expectedRevision: before.state.revision,
    events,
    view,
    row: { of: 'token', view, index },
    distinct: distinct === undefined ? null : { tenantId: view.tenantId, now: atNoon, others: [], ...distinct },
  };
}

export function noTokenYet(tenantId = 'tenant', stream = aStream()): TokenView {
  return emptyView(stream, tenantId);
}

export function change(...writes: readonly StreamWrite[]): Change {
  return { writes, claim: null };
}

/** Opens new stores, runs a test on them, and closes them even if the test fails. */
export function onStores(open: OpenStores, test: (stores: ContractStores) => Promise<void>): () => Promise<void> {
  return async () => {
    const stores = await open();
    try {
      await test(stores);
    } finally {
      await stores.close();
    }
  };
}

/** Like `onStores`, but first creates the keys of a tenant. */
export function onTenant(
  open: OpenStores,
  run: (stores: ContractStores & { readonly tenantId: string }) => Promise<void>,
) {
  return onStores(open, async (stores) => {
    const tenantId = randomUUID();
    // A store that contains keys must belong to a log that contains events. If the log were empty, the store would
    // correctly report that the log is lost.
    await stores.log.append(aStream(), -1, [anEvent()]);
    await stores.keys.createTenant(tenantId);
    await run({ ...stores, tenantId });
  });
}
