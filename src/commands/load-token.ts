import { applyToView, emptyView, type TokenView } from '../projections/token-view.js';
import type { Vault } from './vault.js';

/** Folds a token's stream, read from the log itself. */
export async function loadToken({ log }: Pick<Vault, 'log'>, tenantId: string, stream: string): Promise<TokenView> {
  const events = await log.readStream(stream);
  return events.reduce(applyToView, emptyView(stream, tenantId));
}
