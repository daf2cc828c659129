import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../support/free-ports.js';
import { http, loggedAddress, makeVault, runJson, startService, tempDir, until } from '../support/process.js';
import { chart, tool } from './rendered.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

type Target = { readonly refId: string; readonly expr: string; readonly datasource: object };
type Panel = {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly options: object;
  readonly datasource: object;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly Target[];
};
type Variable = { readonly name: string; readonly type: string; readonly query: unknown };
type Dashboard = {
  readonly uid: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
};
type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { severity: string };
};

const file = (name: string): string => readFileSync(join(chart, 'files', name), 'utf8');
const dashboard: Dashboard = JSON.parse(file('dashboard.json'));
const rules: readonly Rule[] = parse(file('alerts.yaml')).groups[0].rules;
const queries = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ refId, expr }) => [`${title} ${refId}`, expr] as const),
);
const metricsIn = (expr: string): readonly string[] => expr.match(/\b(?:strongroom|process|nodejs)_\w+/g) ?? [];

/**
 * Starts a real Prometheus that loads our alerts and scrapes `target` every second. Stops Prometheus when the test ends.
 */
async function startPrometheus(target: string) {
  const dir = tempDir();
  writeFileSync(join(dir, 'alerts.yaml'), file('alerts.yaml'));
  writeFileSync(
    join(dir, 'prometheus.yaml'),
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['alerts.yaml'],
      scrape_configs: [{ job_name: 'strongroom', static_configs: [{ targets: [target] }] }],
    }),
  );
  const port = await freePort();
  const flags = ['--config.file=prometheus.yaml', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn(join(tool('PROMETHEUS'), 'prometheus'), flags, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  const origin = `http://127.0.0.1:${port}`;
  await until('Prometheus', 60_000, async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended:\n${log}`);
    const answer = await http('GET', `${origin}/-/ready`).catch(() => null);
    return answer?.status === 200 ? true : undefined;
  });
  const ask = async (path: string) => JSON.parse((await http('GET', `${origin}${path}`)).text);
  return {
    ask,
    query: (expr: string) => ask(`/api/v1/query?query=${encodeURIComponent(expr)}`),
  };
}

test('on a real Prometheus that scrapes a real service, every alert and every query in the dashboard finds its metrics', async () => {
  const { flags, key, dir, dataDir } = await makeVault();
  const limits = ['--rate-limit-requests', '20', '--rate-limit-window-seconds', '1'];
  const service = await startService([...flags, '--admin-port', '0', ...limits]);
  const admin = await loggedAddress(service, 'admin_address');
  const recipient = await identityToRecipient(await generateIdentity());
  await runJson(['backup', join(dir, 'backup'), '--recipient', recipient, '--data', dataDir]);
  const prometheus = await startPrometheus(new URL(admin).host);

  const work = async () => {
    const created = await http('POST', `${service.address}/tokens`, { key, body: { type: 'token', data: 'value' } });
    const path = `${service.address}/tokens/${String(created.body['id'])}`;
    await http('GET', path, { key });
    await http('DELETE', path, { key });
    await http('GET', `${service.address}/tokens/not-there`, { key });
  };
  /** Replaces the variables in a query as Grafana does. */
  const filled = (expr: string): string => expr.replaceAll('$__rate_interval', '30s').replaceAll('$instance', '.*');
  const withoutData = async (): Promise<readonly string[]> => {
    const missing: string[] = [];
    for (const [title, expr] of queries) {
      const { status, error, data } = await prometheus.query(filled(expr));
      expect([title, status, error]).toEqual([title, 'success', undefined]);
      if (
        data.result.length === 0 ||
        data.result.some(({ value }: { value: [number, string] }) => value[1] === 'NaN')
      ) {
        missing.push(title);
      }
    }
    return missing;
  };
  // Prometheus can compute a rate only from two scrapes with requests between them.
  let missing: readonly string[] = ['all'];
  for (let round = 0; round < 60 && missing.length > 0; round += 1) {
    await work();
    await wait(500);
    missing = await withoutData();
  }
  expect(missing).toEqual([]);

  const [{ value: requests }] = (await prometheus.query('sum(strongroom_http_requests_total{route="/tokens/:id"})'))
    .data.result;
  expect(Number(requests[1])).toBeGreaterThan(2);
  const names = new Set((await prometheus.ask('/api/v1/label/__name__/values')).data);
  const used = [...queries.map(([, expr]) => expr), ...rules.map(({ expr }) => expr)].flatMap(metricsIn);
  expect(used.filter((name) => !names.has(name))).toEqual([]);

  // Prometheus accepts all alerts, and no alert fires while everything works.
  const loaded = (await prometheus.ask('/api/v1/rules')).data.groups[0].rules;
  expect(loaded.map(({ name, health }: { name: string; health: string }) => [name, health])).toEqual(
    rules.map(({ alert }) => [alert, 'ok']),
  );
  const firing = (await prometheus.ask('/api/v1/alerts')).data.alerts;
  expect(firing.filter(({ state }: { state: string }) => state === 'firing')).toEqual([]);

  const stopped = await service.stop();
  expect(stopped.code).toBe(0);
  await until('the alert that the service is down', 30_000, async () => {
    const { alerts } = (await prometheus.ask('/api/v1/alerts')).data;
    return (
      alerts.some(({ labels }: { labels: { alertname: string } }) => labels.alertname === 'StrongroomDown') || undefined
    );
  });
});

describe('alerts', () => {
  test('are accepted by promtool', () => {
    const checked = spawnSync(join(tool('PROMETHEUS'), 'promtool'), [
      'check',
      'rules',
      join(chart, 'files/alerts.yaml'),
    ]);
    expect([checked.status, String(checked.stdout)]).toEqual([
      0,
      expect.stringContaining(`SUCCESS: ${rules.length} rules found`),
    ]);
  });

  /**
   * For each alert, `bad` contains series that trigger the alert, and `good` contains series that just barely do not.
   * The series have one value per minute. `at` is the time of the evaluation. Series of a healthy vault in another
   * namespace, or of another service, must not hide the problems of a vault.
   */
  const cases: Readonly<Record<string, { readonly bad: Series; readonly good: Series; readonly at: string }>> = {
    StrongroomDown: { bad: { 'up{job="strongroom"}': '0x10' }, good: { 'up{job="strongroom"}': '0 1x10' }, at: '5m' },
    StrongroomMissing: { bad: { 'up{job="other"}': '1x10' }, good: { 'up{job="strongroom"}': '0x10' }, at: '8m' },
    StrongroomNotReady: { bad: { strongroom_ready: '0x10' }, good: { strongroom_ready: '1 1 0 1x10' }, at: '5m' },
    StrongroomStoreDown: {
      bad: { 'strongroom_store_up{store="redis"}': '0x10' },
      good: { 'strongroom_store_up{store="redis"}': '1x10' },
      at: '5m',
    },
    StrongroomNoWorker: {
      bad: {
        'strongroom_leader{instance="a"}': '0x10',
        'strongroom_leader{instance="b"}': '1 0x10',
        'strongroom_leader{instance="c",namespace="other"}': '1x10',
      },
      // While a new worker takes over, no worker leads. Right after that, some processes may not have noticed it yet.
      good: { 'strongroom_leader{instance="a"}': '0x10', 'strongroom_leader{instance="b"}': '0 0 0 0 1x10' },
      at: '8m',
    },
    StrongroomNotice: { bad: { strongroom_notices: '1x30' }, good: { strongroom_notices: '1x3 0x30' }, at: '10m' },
    StrongroomErrors: {
      bad: { [requests(200)]: '0+98x30', [requests(500)]: '0+2x30', [requests(200, 'other')]: '0+9900x30' },
      good: { [requests(200)]: '0+9950x30', [requests(500)]: '0+50x30' },
      at: '20m',
    },
    StrongroomSlow: {
      bad: { ...durations('0+90x40'), ...durations('0+2000x40', '0+2000x40', 'other') },
      good: durations('0+100x40'),
      at: '30m',
    },
    StrongroomProjectionBehind: {
      bad: { 'strongroom_projection_gap_events{projection="tokens"}': '1000x30' },
      good: {
        'strongroom_projection_gap_events{projection="tokens"}': '999x30',
        // On a busy service, the shredder has read fewer events than this at almost every time.
        'strongroom_projection_gap_events{projection="shredder"}': '5000x30',
      },
      at: '20m',
    },
    StrongroomBackgroundFailures: increases('strongroom_background_failures_total', '0+1x30', '0x30 1x30', '20m'),
    StrongroomAnchorFails: increases('strongroom_audit_anchor_failures_total', '0+1x90', '0x60 1x60', '80m'),
    StrongroomGuessing: increases('strongroom_guess_budgets_exhausted_total', '0x10 1x90', '3x90', '30m'),
    // An address that exceeds `rate_limit.auth_failures` gets 429 instead of 401.
    StrongroomWrongKeys: {
      bad: { [requests(401)]: '0+6x30', 'strongroom_rate_limited_total{limit="auth_failures"}': '0+6x30' },
      good: {
        [requests(401)]: '0+5x30',
        'strongroom_rate_limited_total{limit="auth_failures"}': '0+4x30',
        // The requests to a different vault do not count.
        [requests(401, 'other')]: '0+9x30',
      },
      at: '20m',
    },
    // In these tests, time begins at the epoch.
    StrongroomBackupOld: {
      bad: {
        strongroom_last_backup_timestamp_seconds: '0x3000',
        'strongroom_last_backup_timestamp_seconds{service="other-admin"}': '86400x3000',
      },
      good: { strongroom_last_backup_timestamp_seconds: '86400x3000' },
      at: '2900m',
    },
    StrongroomMemory: {
      bad: { 'process_resident_memory_bytes{job="strongroom"}': '900000000x40' },
      good: { 'process_resident_memory_bytes{job="strongroom"}': '700000000x40' },
      at: '30m',
    },
  };

  test('each have a case in this table', () => {
    expect(Object.keys(cases)).toEqual(rules.map(({ alert }) => alert));
  });

  test.each(Object.entries(cases))(
    'include %s, which fires when it should and does not fire just below its threshold',
    (alert, { bad, good, at }) => {
      expect(fires(alert, good, at)).toBe(false);
      expect(fires(alert, bad, at)).toBe(true);
    },
  );

  test('are all on the page for operators, with their thresholds, times and severities', () => {
    const page = readFileSync(join(chart, '../../../docs/how-to/operate.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(Strongroom\w+)` \| .* \| (\S+(?: min)?) \| (critical|warning) \|/gm)];
    const said = rows.map(([, alert, time, severity]) => [alert, time, severity]);
    const minutes = (time = '0m') => (time === '0m' ? 'none' : `${Number.parseInt(time, 10)} min`);
    expect(said).toEqual(rules.map((rule) => [rule.alert, minutes(rule.for), rule.labels.severity]));
  });
});

type Series = Readonly<Record<string, string>>;

function requests(status: number, namespace = ''): string {
  return `strongroom_http_requests_total{status="${status}",namespace="${namespace}"}`;
}

/**
 * Returns the series for reads. `all` contains the values for all reads: by default, a hundred per minute. `fast`
 * contains the values for the reads that take at most half a second.
 */
function durations(fast: string, all = '0+100x40', namespace = ''): Series {
  const labels = `route="/tokens/:id",method="GET",namespace="${namespace}"`;
  const bucket = (le: string) => `strongroom_http_request_duration_seconds_bucket{${labels},le="${le}"}`;
  return { [bucket('0.5')]: fast, [bucket('1')]: all, [bucket('+Inf')]: all };
}

function increases(metric: string, bad: string, good: string, at: string) {
  return { bad: { [metric]: bad }, good: { [metric]: good }, at };
}

/** Returns true if promtool reports that the alert fires at this time on these series. */
function fires(alert: string, series: Series, at: string): boolean {
  const dir = tempDir();
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const expectNone = [{ eval_time: at, alertname: alert, exp_alerts: [] }];
  const tests = [{ interval: '1m', input_series: input, alert_rule_test: expectNone }];
  writeFileSync(join(dir, 'test.yaml'), JSON.stringify({ rule_files: [join(chart, 'files/alerts.yaml')], tests }));
  const ran = spawnSync(join(tool('PROMETHEUS'), 'promtool'), ['test', 'rules', 'test.yaml'], {
    cwd: dir,
    encoding: 'utf8',
  });
  const output = `${ran.stdout}${ran.stderr}`;
  if (ran.status === 0) return false;
  if (!output.includes('exp:[')) throw new Error(output);
  return output.includes(`alertname="${alert}"`);
}

describe('the dashboard', () => {
  test('has everything that Grafana needs: a uid, a selectable data source, unique ids, and panels that do not overlap', () => {
    expect(dashboard).toMatchObject({ uid: 'strongroom', schemaVersion: expect.any(Number) });
    expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['instance', 'query'],
    ]);
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const cells = dashboard.panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
      expect([title, x >= 0 && x + w <= 24]).toEqual([title, true]);
      return Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
    const source = { type: 'prometheus', uid: `\${${dashboard.templating.list[0]?.name}}` };
    for (const { type, datasource, targets } of dashboard.panels) {
      expect(['stat', 'timeseries']).toContain(type);
      expect([datasource, ...targets.map((target) => target.datasource)]).toEqual([
        source,
        ...targets.map(() => source),
      ]);
    }
  });

  test('passes Grafana’s own schema, and the check finds errors', () => {
    expect(wrongInGrafana(dashboard)).toBe('');
    const [first, ...others] = dashboard.panels;
    const withPanel = (panel: object) => wrongInGrafana({ ...dashboard, panels: [{ ...first, ...panel }, ...others] });
    expect(withPanel({ titel: 'misspelt' })).toContain('"titel"');
    expect(withPanel({ gridPos: { x: 0, y: 0, w: 4 } })).toContain("'h'");
    expect(withPanel({ options: { colorMode: 'blink' } })).toContain('"blink"');
  });

  test('shows every metric of the service', async () => {
    const { flags } = await makeVault();
    const service = await startService([...flags, '--admin-port', '0']);
    const admin = await loggedAddress(service, 'admin_address');
    const { text } = await http('GET', `${admin}/metrics`);
    await service.stop();
    const ours = [...text.matchAll(/^# TYPE (strongroom_\w+) /gm)].map(([, name = '']) => name);
    expect(ours.length).toBeGreaterThan(12);
    const shown = queries
      .flatMap(([, expr]) => metricsIn(expr))
      .map((name) => name.replace(/_(bucket|sum|count)$/, ''));
    const unshown = [
      // The dashboard shows the progress of a rebuild as a ratio of these two metrics, in a separate query.
      'strongroom_rebuild_running',
      'strongroom_rebuild_events',
      // This metric has no sample until an application becomes suspect. `doctor` and the access log identify that
      // application.
      'strongroom_deduplication_suspects_total',
    ];
    expect(ours.filter((name) => !shown.includes(name))).toEqual(unshown);
  });
});

/**
 * Checks a dashboard against the types from Grafana's schema, for the Grafana version in docker-compose.yml. The
 * dashboard is compiled as a literal, so an unknown field is an error. Returns the compiler errors.
 */
function wrongInGrafana(checked: {
  readonly panels: readonly { readonly type?: string; readonly options?: object }[];
}): string {
  const dir = tempDir();
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  const panelTypes = { stat: 'Stat', timeseries: 'TimeSeries' };
  const imports = Object.entries(panelTypes).map(
    ([folder, name]) =>
      `import type { Options as ${name} } from '@grafana/schema/dist/esm/raw/composable/${folder}/panelcfg/x/${name}PanelCfg_types.gen';`,
  );
  const options = checked.panels.map(
    (panel, index) =>
      `export const options${index}: Partial<Plain<${panel.type === 'stat' ? 'Stat' : 'TimeSeries'}>> = ${JSON.stringify(panel.options)};`,
  );
  const source = [
    "import type { Dashboard } from '@grafana/schema';",
    ...imports,
    // JSON represents an enumeration as text.
    `type Plain<T> = T extends string ? \`\${T}\` : T extends (infer I)[] ? Plain<I>[] : T extends object ? Fields<T> : T;`,
    'type Fields<T> = { [K in keyof T]: Plain<T[K]> };',
    `export const dashboard: Plain<Dashboard> = ${JSON.stringify(checked)};`,
    ...options,
  ];
  writeFileSync(join(dir, 'dashboard.ts'), source.join('\n'));
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler'];
  const ran = spawnSync(join(root, 'node_modules/.bin/tsc'), [...flags, 'dashboard.ts'], {
    cwd: dir,
    encoding: 'utf8',
  });
  return ran.status === 0 ? '' : `${ran.stdout}${ran.stderr}`;
}
