import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics } from '../../ports/metrics.js';
import type { ServiceState } from '../../ports/service-state.js';

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const groupSizes = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** Implements `Metrics` for Prometheus with its own registry. */
export function prometheusMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const showState = stateGauges(registry);

  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name: `strongroom_${name}`, help, labelNames: [...labelNames], registers });
  const requests = counter('http_requests_total', 'Finished requests.', ['route', 'method', 'status']);
  const limited = counter('rate_limited_total', 'Requests rejected with 429.', ['limit']);
  const guesses = counter('guesses_total', 'Values and unknown ids that callers looked up, by budget.', ['budget']);
  const exhausted = counter('guess_budgets_exhausted_total', 'Times that an application used up an hourly budget.', [
    'budget',
  ]);
  const suspected = counter(
    'deduplication_suspects_total',
    'Times that an application used a tenth of its hourly deduplication misses without a hit.',
    ['application'],
  );
  for (const limit of ['requests', 'auth_failures', 'keyless_requests', 'guesses', 'deduplication_misses'] as const) {
    limited.inc({ limit }, 0);
  }
  for (const budget of ['guesses', 'deduplication_misses'] as const) {
    guesses.inc({ budget }, 0);
    exhausted.inc({ budget }, 0);
  }
  const destroyed = counter('keys_destroyed_total', 'Data keys destroyed. Each destroyed key erases what it sealed.');
  const failed = counter('background_failures_total', 'Failures outside of requests.');
  const forgedRows = counter('forged_rows_total', 'Reads of rows that were changed or replaced outside the vault.');
  const anchorFailed = counter('audit_anchor_failures_total', 'Checkpoints that the anchor did not accept.');
  const sent = counter('webhook_requests_total', 'Requests to the addresses of webhooks.', ['outcome']);
  for (const outcome of ['accepted', 'failed'] as const) sent.inc({ outcome }, 0);
  const durations = new Histogram({
    name: 'strongroom_http_request_duration_seconds',
    help: 'Time to respond to a request.',
    registers,
    labelNames: ['route', 'method'] as const,
    buckets: requestSeconds,
  });
  const groups = new Histogram({
    name: 'strongroom_group_commit_changes',
    help: 'Changes that one commit made durable.',
    registers,
    buckets: groupSizes,
  });

  /**
   * Caches the counter and the histogram for each method, status and route. prom-client then has to look up their
   * labels only once.
   */
  const finishedBy = new Map<string, { readonly count: Counter.Internal; readonly time: Histogram.Internal<string> }>();

  return {
    requestFinished({ route, method, status, durationMs }) {
      const name = `${method} ${status} ${route}`;
      let finished = finishedBy.get(name);
      if (finished === undefined) {
        finished = { count: requests.labels(route, method, String(status)), time: durations.labels(route, method) };
        finishedBy.set(name, finished);
      }
      finished.count.inc();
      finished.time.observe(durationMs / 1_000);
    },
    rateLimited: (limit) => limited.inc({ limit }),
    guessed: (budget, count) => guesses.inc({ budget }, count),
    guessBudgetExhausted: (budget) => exhausted.inc({ budget }),
    guessesSuspected: (application) => suspected.inc({ application }),
    keysDestroyed: (count) => destroyed.inc(count),
    groupCommitted: (changes) => groups.observe(changes),
    backgroundWorkFailed: () => failed.inc(),
    forgedRowFound: () => forgedRows.inc(),
    anchorFailed: () => anchorFailed.inc(),
    webhookSent: (outcome) => sent.inc({ outcome }),
    async render(state) {
      showState(state);
      return { mediaType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/**
 * Registers the gauges for the service state, and returns a function that sets them. The gauge of a gap or a leader that
 * is unknown has no sample.
 */
function stateGauges(registry: Registry): (state: ServiceState) => void {
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name: `strongroom_${name}`, help, labelNames: [...labelNames], registers: [registry] });
  const ready = gauge('ready', '1 while the service is ready.');
  const up = gauge('store_up', '1 while the store responds.', ['store']);
  const gap = gauge('projection_gap_events', 'Events of the log that a projection has not processed.', ['projection']);

  const noticed = gauge('notices', 'Problems that do not make the service unready, such as a clock that it distrusts.');

  const leader = gauge('leader', '1 while a process does the background work; 0 if no worker does.');

  const backup = gauge(
    'last_backup_timestamp_seconds',
    'When the newest complete backup began, in seconds since the epoch; 0 if no backup is known.',
  );

  const rebuilding = gauge('rebuild_running', '1 while the rows of tokens are being rebuilt.');
  const events = gauge('rebuild_events', 'Events of the log that the rebuild has read in this process.');
  const perSecond = gauge('rebuild_events_per_second', 'Events that the rebuild reads per second.');
  const done = gauge('rebuild_done_ratio', 'Share of the log that the rebuild has read, from 0 to 1.');

  return ({ reasons, notices, stores, projections, rebuild, hasLeader, backupMadeAt }) => {
    if (hasLeader === null) leader.remove();
    else leader.set(hasLeader ? 1 : 0);
    rebuilding.set(rebuild === null ? 0 : 1);
    events.set(rebuild?.events ?? 0);
    perSecond.set(rebuild?.eventsPerSecond ?? 0);
    done.set(rebuild === null || rebuild.head === 0 ? 0 : Math.min(rebuild.position / rebuild.head, 1));
    backup.set((backupMadeAt ?? 0) / 1_000);
    ready.set(reasons.length === 0 ? 1 : 0);
    noticed.set(notices.length);
    for (const { name, state } of stores) up.set({ store: name }, state === 'up' ? 1 : 0);
    gap.reset();
    for (const { name, gap: unseen } of projections) if (unseen !== null) gap.set({ projection: name }, unseen);
  };
}
