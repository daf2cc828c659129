import type { DueRow } from '../ports/token-rows.js';
import type { TokenView } from '../views/token-view.js';

/** Returns the due times of a token. */
export function dueRowsOf({ stream, tenantId, state }: TokenView): readonly DueRow[] {
  const { expiresAt = null, cvc = null } = state.life ?? {};
  return [
    ...(expiresAt === null ? [] : [{ stream, tenantId, due: 'expiry', dueAt: expiresAt } as const]),
    ...(cvc === null ? [] : [{ stream, tenantId, due: 'cvc', dueAt: cvc.purgeAt } as const]),
  ];
}
