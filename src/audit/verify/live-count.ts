import type { TokenEventType } from '../../domain/token/token-event-header.js';
import { endsToken } from '../../events/tokens/catalogue.js';

type Noted = { readonly type: string; readonly tenant: string };

const created: TokenEventType = 'token.created';

export type LiveCount = {
  /** Counts an event. Events must be counted in the order of the log. */
  note(event: Noted): void;
  /** Counts an event only if it ends tokens. */
  noteEnd(event: Noted): void;
  /** Returns how many tokens are live, without the tokens of deleted tenants. */
  total(): number;
};

/** Counts the live tokens according to the events of the log. */
export function createLiveCount(): LiveCount {
  const tokens = new Map<string, number>();
  const gone = new Set<string>();

  function add(tenant: string, more: number): void {
    if (!gone.has(tenant)) tokens.set(tenant, (tokens.get(tenant) ?? 0) + more);
  }

  function noteEnd({ type, tenant }: Noted): void {
    if (endsToken(type)) add(tenant, -1);
    if (type !== 'tenant.deleted') return;
    gone.add(tenant);
    tokens.delete(tenant);
  }

  return {
    note(event) {
      if (event.type === created) add(event.tenant, 1);
      noteEnd(event);
    },
    noteEnd,
    total: () => [...tokens.values()].reduce((sum, count) => sum + count, 0),
  };
}
