import { describe, expect, test } from 'vitest';
import type { Metrics } from '#src/ports/metrics.js';
import type { ServiceState } from '#src/ports/service-state.js';

const ready: ServiceState = {
  reasons: [],
  notices: [],
  stores: [{ name: 'a.db', state: 'up' }],
  projections: [],
  rebuild: null,
  hasLeader: true,
  backupMadeAt: null,
};

/** Defines the tests that every adapter for `Metrics` must pass. */
export function metricsContract(name: string, open: () => Metrics): void {
  const shown = async (metrics: Metrics, state = ready) => {
    const { text, mediaType } = await metrics.render(state);
    expect(mediaType).toMatch(/^text\/plain; version=0\.0\.4/);
    return text.split('\n').filter((line) => line.startsWith('strongroom_'));
  };

  describe(`Metrics: ${name}`, () => {
    test('requests are counted by route template, method and status, together with their durations', async () => {
      const metrics = open();
      const request = { route: '/tokens/:id', method: 'GET', status: 200, durationMs: 7 };
      for (const status of [200, 200, 404]) metrics.requestFinished({ ...request, status });
      const lines = await shown(metrics);
      expect(lines).toContain('strongroom_http_requests_total{route="/tokens/:id",method="GET",status="200"} 2');
      expect(lines).toContain('strongroom_http_requests_total{route="/tokens/:id",method="GET",status="404"} 1');
      const duration = 'strongroom_http_request_duration_seconds';
      expect(lines).toContain(`${duration}_bucket{le="0.005",route="/tokens/:id",method="GET"} 0`);
      expect(lines).toContain(`${duration}_bucket{le="0.01",route="/tokens/:id",method="GET"} 3`);
      expect(lines).toContain(`${duration}_count{route="/tokens/:id",method="GET"} 3`);
    });

    test('rejections, guesses, erasures, commits and failures are counted', async () => {
      const metrics = open();
      metrics.rateLimited('requests');
      metrics.guessed('guesses', 3);
      metrics.guessBudgetExhausted('deduplication_misses');
      metrics.guessesSuspected('an-application');
      metrics.keysDestroyed(2);
      for (const changes of [1, 30]) metrics.groupCommitted(changes);
      metrics.backgroundWorkFailed();
      metrics.anchorFailed();
      metrics.forgedRowFound();
      metrics.webhookSent('failed');
      const lines = await shown(metrics);
      for (const line of [
        'strongroom_rate_limited_total{limit="requests"} 1',
        'strongroom_rate_limited_total{limit="auth_failures"} 0',
        'strongroom_rate_limited_total{limit="guesses"} 0',
        'strongroom_guesses_total{budget="guesses"} 3',
        'strongroom_guesses_total{budget="deduplication_misses"} 0',
        'strongroom_guess_budgets_exhausted_total{budget="deduplication_misses"} 1',
        'strongroom_deduplication_suspects_total{application="an-application"} 1',
        'strongroom_keys_destroyed_total 2',
        'strongroom_group_commit_changes_sum 31',
        'strongroom_group_commit_changes_count 2',
        'strongroom_background_failures_total 1',
        'strongroom_audit_anchor_failures_total 1',
        'strongroom_forged_rows_total 1',
        'strongroom_webhook_requests_total{outcome="failed"} 1',
        'strongroom_webhook_requests_total{outcome="accepted"} 0',
      ]) {
        expect(lines).toContain(line);
      }
    });

    test('the state is read on each scrape, and a gap that is unknown is not shown', async () => {
      const metrics = open();
      const stores = [{ name: 'a.db', state: 'down' }] as const;
      const projections = [{ name: 'shredder', gap: 5 }];
      const bad = await shown(metrics, { ...ready, reasons: ['a.db does not answer'], stores, projections });
      expect(bad).toContain('strongroom_ready 0');
      expect(bad).toContain('strongroom_store_up{store="a.db"} 0');
      expect(bad).toContain('strongroom_projection_gap_events{projection="shredder"} 5');
      const good = await shown(metrics, { ...ready, projections: [{ name: 'shredder', gap: null }] });
      expect(good).toContain('strongroom_ready 1');
      expect(good).toContain('strongroom_store_up{store="a.db"} 1');
      expect(good.filter((line) => line.includes('projection_gap'))).toEqual([]);
    });

    test('a rebuild in progress shows its progress and speed', async () => {
      const metrics = open();
      const numbers = { position: 30, head: 120, events: 25, eventsPerSecond: 12.5 };
      const rebuild = { phase: 'building', ...numbers, left: 7, acceptNew: false } as const;
      const shownNow = await shown(metrics, { ...ready, rebuild });
      for (const line of ['running 1', 'events 25', 'events_per_second 12.5', 'done_ratio 0.25']) {
        expect(shownNow).toContain(`strongroom_rebuild_${line}`);
      }
      expect(await shown(metrics, ready)).toContain('strongroom_rebuild_running 0');
    });

    test('notices are counted, because a service that distrusts its clock stays ready', async () => {
      const metrics = open();
      expect(await shown(metrics)).toEqual(expect.arrayContaining(['strongroom_ready 1', 'strongroom_notices 0']));
      const held = await shown(metrics, {
        ...ready,
        notices: [{ check: 'clock', says: 'the clock is wrong', do: 'Correct it' }],
      });
      expect(held).toEqual(expect.arrayContaining(['strongroom_ready 1', 'strongroom_notices 1']));
    });

    test('whether a process does the background work is shown, unless it is unknown', async () => {
      const metrics = open();
      const leader = async (hasLeader: boolean | null) =>
        (await shown(metrics, { ...ready, hasLeader })).filter((line) => line.startsWith('strongroom_leader'));
      expect(await leader(true)).toEqual(['strongroom_leader 1']);
      expect(await leader(false)).toEqual(['strongroom_leader 0']);
      expect(await leader(null)).toEqual([]);
    });

    test('the time of the newest backup is shown in seconds, or as 0 before the first backup', async () => {
      const metrics = open();
      const line = 'strongroom_last_backup_timestamp_seconds';
      expect(await shown(metrics)).toContain(`${line} 0`);
      expect(await shown(metrics, { ...ready, backupMadeAt: 1_767_225_600_500 })).toContain(`${line} 1767225600.5`);
    });

    test('two instances of the metrics are independent', async () => {
      const [metrics, other] = [open(), open()];
      metrics.guessed('guesses', 1);
      expect(await shown(other)).toContain('strongroom_guesses_total{budget="guesses"} 0');
    });
  });
}
