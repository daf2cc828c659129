import type { ClearEvent } from '../event.js';
import { tenantStream } from './streams.js';

/** A tenant or an application, and the revision that an event gave its row. */
export type RevisedRecord = {
  readonly kind: 'tenant' | 'application';
  readonly id: string;
  readonly revision: number;
};

/** Returns the records of the directory that events change. Every event of its stream changes a tenant's own. */
export function revisedRecords(events: readonly ClearEvent[]): readonly RevisedRecord[] {
  return events.flatMap(({ stream, tenantId, revision, clear }): RevisedRecord[] => {
    if (stream !== tenantStream(tenantId)) return [];
    const application = clear['application_id'];
    return [
      { kind: 'tenant', id: tenantId, revision },
      ...(typeof application === 'string' ? [{ kind: 'application', id: application, revision } as const] : []),
    ];
  });
}
