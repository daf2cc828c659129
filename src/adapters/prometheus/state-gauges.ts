import { Gauge, type Registry } from 'prom-client';
import type { ServiceState } from '../../ports/service-state.js';

/** Readiness, stores and projections as gauges; what it answers sets them. A gap that nobody can tell is not shown. */
export function stateGauges(registry: Registry): (state: ServiceState) => void {
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name: `strongroom_${name}`, help, labelNames: [...labelNames], registers: [registry] });
  const ready = gauge('ready', '1 while the service is ready.');
  const up = gauge('store_up', '1 while the store answers.', ['store']);
  const gap = gauge('projection_gap_events', 'Events of the log that a projection has not seen.', ['projection']);

  const backup = gauge(
    'last_backup_timestamp_seconds',
    'When the newest whole backup was begun, in seconds since the epoch; 0: no backup is known.',
  );

  const rebuilding = gauge('rebuild_running', '1 while the rows of tokens are made anew.');
  const events = gauge('rebuild_events', 'Events of the log that the rebuild has read in this process.');
  const perSecond = gauge('rebuild_events_per_second', 'How many of them in a second.');
  const done = gauge('rebuild_done_ratio', 'How much of the log the rebuild has read, from 0 to 1.');

  return ({ reasons, stores, projections, rebuild, backupMadeAt }) => {
    rebuilding.set(rebuild === null ? 0 : 1);
    events.set(rebuild?.events ?? 0);
    perSecond.set(rebuild?.eventsPerSecond ?? 0);
    done.set(rebuild === null || rebuild.head === 0 ? 0 : Math.min(rebuild.position / rebuild.head, 1));
    backup.set((backupMadeAt ?? 0) / 1_000);
    ready.set(reasons.length === 0 ? 1 : 0);
    for (const { name, state } of stores) up.set({ store: name }, state === 'up' ? 1 : 0);
    gap.reset();
    for (const { name, gap: unseen } of projections) if (unseen !== null) gap.set({ projection: name }, unseen);
  };
}
