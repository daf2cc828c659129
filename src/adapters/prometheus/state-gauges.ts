import { Gauge, type Registry } from 'prom-client';
import type { ServiceState } from '../../ports/service-state.js';

/** Readiness, stores and projections as gauges; what it answers sets them. A gap that nobody can tell is not shown. */
export function stateGauges(registry: Registry): (state: ServiceState) => void {
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name: `strongroom_${name}`, help, labelNames: [...labelNames], registers: [registry] });
  const ready = gauge('ready', '1 while the service is ready.');
  const up = gauge('store_up', '1 while the store answers.', ['store']);
  const gap = gauge('projection_gap_events', 'Events of the log that a projection has not seen.', ['projection']);

  return ({ reasons, stores, projections }) => {
    ready.set(reasons.length === 0 ? 1 : 0);
    for (const { name, state } of stores) up.set({ store: name }, state === 'up' ? 1 : 0);
    gap.reset();
    for (const { name, gap: events } of projections) if (events !== null) gap.set({ projection: name }, events);
  };
}
