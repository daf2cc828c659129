import { randomUUID } from 'node:crypto';
import { isExpired, keysOf } from '../../../domain/token/token-state.js';
import { type NewEvent, noSealedParts } from '../../../events/event.js';
import { tokenEventVersion } from '../../../events/tokens/catalogue.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { EndedKey } from '../../../ports/key-ring.js';
import { applyToView, emptyView } from '../../../projections/token-view.js';
import { type Intent, settle } from './intent.js';

type Needs = {
  readonly log: EventLog;
  readonly now: () => number;
  readonly destroyKeys: (ended: readonly EndedKey[]) => Promise<unknown>;
  readonly project: (tenantId: string, stream: string) => Promise<void>;
};

/** Ends the token that was created as intended, and its keys; bars what was not created. May be done again, and by many. */
export async function undoCreation({ log, now, destroyKeys, project }: Needs, intent: Intent): Promise<void> {
  const { stream, tenantId, expectedRevision, eventIds } = intent;
  const landed = (await settle(log, intent, now())) === 'landed';
  for (;;) {
    const { state } = (await log.readStream(stream)).reduce(applyToView, emptyView(stream, tenantId));
    const { life, revision, ended } = state;
    const born = life === null ? -1 : life.createdRevision - expectedRevision - 1;
    if (!landed || life === null || born < 0 || born >= eventIds.length) {
      // The row first: one that is read must not name a key that was destroyed.
      await project(tenantId, stream);
      await destroyKeys(ended);
      return;
    }
    const at = now();
    const end = isExpired(life, at)
      ? ({ type: 'token.expired', clear: { due_at: life.expiresAt ?? at, ends: [...keysOf(life)] } } as const)
      : ({ type: 'token.deleted', clear: { reason: 'undone', ends: [...keysOf(life)] } } as const);
    const event: NewEvent = {
      ...{ id: randomUUID(), version: tokenEventVersion, tenantId, actorId: 'system', time: at, ...end },
      ...{ cmd: null, trace: null, sealed: noSealedParts },
    };
    // Whether it landed or somebody was first: the next look tells.
    await log.append(stream, revision, [event]);
  }
}
