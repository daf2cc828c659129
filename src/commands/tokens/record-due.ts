import { decide } from '../../domain/token/decide.js';
import { timesOf } from '../../ports/clock.js';
import type { DueRow } from '../../ports/token-rows.js';
import { type ChangeTokensDeps, changeTokens, nothingToSeal } from '../write-path.js';

/**
 * Records that a token has expired or that its cvc is due for purging, and destroys the keys. The decision is not based
 * on the due time, which is not authenticated. If another process has already recorded the expiry or purge, or if the
 * due time has changed, does nothing. No tenant keys are needed, so the tokens of a deleted tenant expire too. If the
 * tenant keys exist, the id of an expiring token is sealed for webhooks.
 */
export async function recordDue(vault: ChangeTokensDeps, { tenantId, stream, due }: DueRow): Promise<void> {
  const origin = { actorId: 'system', traceId: null, visitor: null, cmd: null };
  const target = { tenantId, tenantKeys: null, streams: [stream], origin };
  await changeTokens(vault, target, async (attempt) => {
    const view = attempt.viewOf(stream);
    // Threat: an attacker who can write the timers creates a timer that names the wrong tenant.
    if (view.state.life?.tenantId !== tenantId) return null;
    const times = timesOf(vault.clock, attempt.at);
    const decided = decide(
      due === 'expiry' ? { kind: 'expire', ...times } : { kind: 'purge_cvc', reason: 'due', ...times },
      view.state,
    );
    if (!decided.ok || decided.events.length === 0) return null;
    return attempt.commit(await attempt.seal([{ view, decisions: decided.events, ...nothingToSeal }]), null);
  });
}
