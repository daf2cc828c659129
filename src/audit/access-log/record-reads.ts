import type { Transform } from '../../domain/access/transform.js';
import { refOfTokenStream } from '../../events/access-log/entity-ref.js';
import type { CommandContext } from '../../vault/command-context.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { Vault } from '../../vault/vault.js';
import { type AccessFact, entriesOfRequest } from './new-entry.js';

/** The caller and the request that read. */
export type ReadContext = Pick<CommandContext, 'caller' | 'traceId' | 'beganAt'>;

/** A token in a response, and its transform. */
export type ShownToken = {
  readonly stream: string;
  readonly transform: Transform;
  /**
   * What this very request did to the token, and the event of it has recorded: then it is no read besides. Who created
   * it sent the data; who updated it may be shown more than was sent, so in clear that is a reveal.
   */
  readonly recordedAs?: 'create' | 'update';
};

/**
 * Records the tokens that an answer is about to show, one entry each (docs/contract.md, "Access log"; docs/design.md,
 * "A read, step by step"). To
 * be awaited before any answer with token data leaves, also one that found none: when one of them is in clear it resolves
 * once all are durable, else when what was read is known to be current. Throws StoreUnavailable, and then the answer must
 * not leave.
 */
export async function recordReads(vault: Vault, context: ReadContext, shown: readonly ShownToken[]): Promise<void> {
  const read = shown.filter(isRead);
  const revealing = shown.some(({ transform }) => transform === 'reveal');
  const entries = read.length === 0 ? [] : await entriesOf(vault, context, read);
  if (revealing) await vault.recorder.now(entries);
  else if (entries.length > 0) vault.recorder.soon(entries);
  // A change returns what it read from the log.
  if (shown.length > 0 && read.length === 0) return;
  await vault.confirmReads(context.beganAt, revealing);
}

async function entriesOf(vault: Vault, context: ReadContext, read: readonly ShownToken[]) {
  const tenantKeys = await tenantKeysOf(vault, context.caller.tenantId);
  const facts = read.map(({ stream, transform }) => factOf(refOfTokenStream(stream), transform));
  return entriesOfRequest(context, tenantKeys, vault.clock.now(), facts);
}

function isRead({ recordedAs, transform }: ShownToken): boolean {
  return recordedAs === undefined || (recordedAs === 'update' && transform === 'reveal');
}

function factOf(ref: string, transform: Transform): AccessFact {
  return transform === 'reveal'
    ? { entity: 'token', ref, operation: 'reveal', message: 'token shown in plaintext' }
    : {
        entity: 'token',
        ref,
        operation: 'read',
        message: transform === 'mask' ? 'token shown masked' : 'token shown without data',
      };
}
