import { setImmediate as nextTurn } from 'node:timers/promises';
import { decide } from '../../domain/token/decide.js';
import type { ClearEvent } from '../../events/event.js';
import { endsToken } from '../../events/tokens/catalogue.js';
import { recordTenantDeletion } from '../tenancy/delete-tenant.js';
import { type ChangeTokensDeps, changeTokens, nothingToSeal } from '../write-path.js';

/** The number of events per page. Verifying this many takes a few milliseconds. */
const pageSize = 250;

/**
 * A token that is live according to the log, although one of its keys was destroyed. `what` is `data` if its data key
 * was destroyed, and `cvc` if only the key of its verification code was destroyed.
 */
export type UnreadableToken = { readonly tenantId: string; readonly stream: string; readonly what: 'data' | 'cvc' };

/** What is live according to an older log, although its keys were destroyed. A tenant's own tokens are not in `tokens`. */
export type Erased = { readonly tenants: readonly string[]; readonly tokens: readonly UnreadableToken[] };

/** The only log method that the search for unreadable tokens calls. The log does not have to verify its events. */
type ClearLog = { readClear(afterPosition: number, limit: number): Promise<readonly ClearEvent[]> };

/**
 * Finds the tokens that are live according to the log although one of their keys was destroyed. An older log that was
 * restored can contain such tokens, because it does not contain the events that marked their keys for destruction.
 * Decrypts nothing. Calls `onPage` with each page of the log, so that the caller need not read the log again.
 */
export async function findUnreadableTokens(
  log: ClearLog,
  isErased: (keyId: string) => boolean,
  onPage: (page: readonly ClearEvent[]) => void,
): Promise<readonly UnreadableToken[]> {
  const isGone = (keyId: unknown) => typeof keyId === 'string' && isErased(keyId);
  const found = new Map<string, { readonly tenantId: string; readonly data: boolean; readonly cvc: boolean }>();
  const goneTenants = new Set<string>();
  for (let page = await log.readClear(0, pageSize); page.length > 0; ) {
    onPage(page);
    for (const { type, tenantId, stream, clear } of page) {
      if (type === 'tenant.deleted') goneTenants.add(tenantId);
      if (endsToken(type)) found.delete(stream);
      if (type === 'token.property.expired') keep(stream, tenantId, found.get(stream)?.data === true, false);
      if (type !== 'token.created' && type !== 'token.updated') continue;
      const keepsCvc = clear['cvc'] === 'kept' && found.get(stream)?.cvc === true;
      keep(stream, tenantId, isGone(clear['key']), keepsCvc || isGone(clear['cvc_key']));
    }
    // SQLite reads are synchronous. This pause allows requests to run between two pages.
    await nextTurn();
    page = await log.readClear(page.at(-1)?.position ?? 0, pageSize);
  }
  return [...found].flatMap(([stream, { tenantId, data }]) =>
    goneTenants.has(tenantId) ? [] : [{ tenantId, stream, what: data ? ('data' as const) : ('cvc' as const) }],
  );

  function keep(stream: string, tenantId: string, data: boolean, cvc: boolean): void {
    if (data || cvc) found.set(stream, { tenantId, data, cvc });
    else found.delete(stream);
  }
}

/**
 * Finds the tenants and tokens that are live according to the log although their keys were destroyed. The keys of a
 * tenant are destroyed only if the tenant is deleted. Decrypts nothing.
 */
export async function findErased(
  log: ClearLog,
  isErased: { key(keyId: string): boolean; tenant(tenantId: string): Promise<boolean> | boolean },
): Promise<Erased> {
  const living = new Set<string>();
  const tokens = await findUnreadableTokens(log, isErased.key, (page) => {
    for (const { type, tenantId } of page) {
      if (type === 'tenant.created') living.add(tenantId);
      if (type === 'tenant.deleted') living.delete(tenantId);
    }
  });
  const tenants = new Set<string>();
  for (const tenantId of living) if (await isErased.tenant(tenantId)) tenants.add(tenantId);
  return { tenants: [...tenants], tokens: tokens.filter(({ tenantId }) => !tenants.has(tenantId)) };
}

/**
 * Records these erasures in the log. Deletes each of the tenants, and each token whose data was erased. If only the
 * verification code (cvc) of a token was erased, purges the cvc.
 */
export async function recordErased(vault: ChangeTokensDeps, { tenants, tokens }: Erased): Promise<void> {
  for (const tenantId of tenants) await recordTenantDeletion(vault, tenantId);
  const origin = { actorId: 'operator', traceId: null, visitor: null, cmd: null };
  for (const { tenantId, stream, what } of tokens) {
    const target = { tenantId, tenantKeys: null, streams: [stream], origin };
    await changeTokens(vault, target, async (attempt) => {
      const view = attempt.viewOf(stream);
      // A token that has expired is deleted too (`endsUpTo: 0`). Otherwise, until a service records the expiry, `doctor`
      // would report the token's key as lost.
      const decided = decide(
        what === 'data'
          ? { kind: 'delete', at: attempt.at, endsUpTo: 0 }
          : { kind: 'purge_cvc', reason: 'request', at: attempt.at },
        view.state,
      );
      if (!decided.ok || decided.events.length === 0) return null;
      return attempt.commit(await attempt.seal([{ view, decisions: decided.events, ...nothingToSeal }]), null);
    });
  }
}
