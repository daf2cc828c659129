import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '#src/compose/config/config.js';
import { environmentName } from '#src/compose/config/setting.js';
import { settingPaths, settings } from '#src/compose/config/settings.js';

type Health = { readonly test?: readonly string[]; readonly disable?: boolean };
type Service = {
  readonly image: string;
  readonly build?: string;
  readonly profiles?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly restart?: string;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ulimits?: { readonly core?: number };
  readonly ports?: readonly string[];
  readonly privileged?: boolean;
  readonly networks?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly command?: string | readonly string[];
  readonly healthcheck?: Health;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = (file: string): string => readFileSync(`${root}/${file}`, 'utf8');
const compose: Compose = parse(text('docker-compose.yml'), { merge: true });
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image.startsWith('strongroom:'));
const serving = ours.filter(([name]) => /^(api|worker)-/.test(name));
const stores = services.filter(
  ([, { image, profiles = [] }]) => !image.startsWith('strongroom:') && profiles.length === 0,
);
const dashboards = services.filter(([, { profiles }]) => profiles?.includes('dashboards'));

test('there are two API processes, two workers, an init that is started by hand, the three stores, and the optional dashboards', () => {
  expect(services.map(([name]) => name).sort()).toEqual(
    [
      'api-1',
      'api-2',
      'worker-1',
      'worker-2',
      'init',
      'cluster-prepare',
      'eventstoredb',
      'mongodb',
      'redis',
      ...dashboards.map(([name]) => name),
    ].sort(),
  );
  const roles = serving.map(([name, { environment }]) => [name, environment?.['STRONGROOM_ROLE']]);
  expect(roles).toEqual([
    ['api-1', 'api'],
    ['api-2', 'api'],
    ['worker-1', 'worker'],
    ['worker-2', 'worker'],
  ]);
});

test.each(services)(
  '%s runs as an unprivileged user, cannot gain privileges, and writes no core dumps',
  (_name, service) => {
    expect(service).toMatchObject({
      user: expect.stringContaining('CONTAINER_USER'),
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ulimits: { core: 0 },
    });
    expect(service.privileged).toBeUndefined();
  },
);

test.each(ours)('%s does not write to its file system', (_name, service) => {
  expect(service.read_only).toBe(true);
  expect(service.volumes).toBeUndefined();
});

test.each(services)('%s names an exact version of its image', (_name, { image }) => {
  expect(image).toMatch(/:v?\d+\.\d+\.\d+(-[a-z-]+)?$/);
});

const networksOf = (name: string): readonly string[] => {
  if (name.startsWith('api-')) return ['stores', 'callers', 'metrics'];
  if (name.startsWith('worker-')) return ['stores', 'egress', 'metrics'];
  if (name === 'prometheus') return ['metrics'];
  return name === 'grafana' ? ['metrics', 'dashboards'] : ['stores'];
};

test('only API processes and Grafana are published, on loopback only, and stores and metrics are in networks without outside access', () => {
  for (const [name, { ports = [], networks = [] }] of services) {
    const isApi = name.startsWith('api-');
    expect([name, ports.length]).toEqual([name, isApi || name === 'grafana' ? 1 : 0]);
    for (const port of ports) expect(port).toMatch(isApi ? /^127\.0\.0\.1:\d+:8080$/ : /^127\.0\.0\.1:3000:3000$/);
    expect([name, networks]).toEqual([name, networksOf(name)]);
  }
  expect(compose.networks).toMatchObject({ stores: { internal: true }, metrics: { internal: true } });
});

test.each(serving)(
  '%s can send requests to webhooks, over a network that no store is in',
  (_name, { networks = [] }) => {
    // Workers deliver events, and API processes send test events.
    const waysOut = networks.filter((network) => compose.networks[network]?.internal !== true);
    expect(waysOut).toHaveLength(1);
    for (const [name, { networks: others = [] }] of stores) {
      expect([name, others.filter((network) => waysOut.includes(network))]).toEqual([name, []]);
    }
  },
);

test('the dashboards’ Prometheus scrapes the admin listener of each process, which listens in Prometheus’s network', () => {
  const scraped = parse(text('deploy/compose/prometheus.yml')).scrape_configs[0].static_configs[0].targets;
  expect(scraped).toEqual(serving.map(([name]) => `${name}:${settings['admin.port'].default}`));
  for (const [name, { environment }] of serving) {
    expect([name, environment?.['STRONGROOM_ADMIN_HOST']]).toEqual([name, '0.0.0.0']);
  }
});

test.each(dashboards)(
  '%s starts only on request, writes only to its own volume, and reads files that exist in the repository',
  (name, service) => {
    expect(service).toMatchObject({ read_only: true, profiles: ['dashboards'] });
    const written = { prometheus: ['./volumes/prometheus'], grafana: [] }[name];
    const mounts = (service.volumes ?? []).map((volume) => volume.split(':'));
    expect(mounts.filter(([, , mode]) => mode !== 'ro').map(([from]) => from)).toEqual(written);
    for (const [from = '', , mode] of mounts) if (mode === 'ro') expect(text(from)).not.toBe('');
  },
);

test('Grafana shows the dashboard from the chart with data from this Prometheus, to viewers only', () => {
  const { environment = {}, volumes = [] } = compose.services['grafana'] ?? {};
  expect(environment).toMatchObject({ GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer', GF_AUTH_DISABLE_LOGIN_FORM: 'true' });
  expect(parse(text('deploy/compose/grafana-datasources.yml')).datasources[0].url).toBe('http://prometheus:9090');
  const { path } = parse(text('deploy/compose/grafana-dashboards.yml')).providers[0].options;
  expect(volumes).toContain(`./deploy/helm/strongroom/files/dashboard.json:${path}/strongroom.json:ro`);
});

test.each([...serving, ...stores, ...dashboards])('%s has a health check', (_name, { healthcheck }) => {
  expect(healthcheck?.test?.[0]).toBe('CMD');
  // Without quotes, YAML reads an argument that contains a colon and a space as an object, and Compose rejects the file.
  for (const argument of healthcheck?.test ?? []) expect(argument).toEqual(expect.any(String));
});

test.each(serving)('%s starts only after its stores', (_name, { depends_on }) => {
  expect(depends_on).toEqual({
    eventstoredb: { condition: 'service_healthy' },
    'cluster-prepare': { condition: 'service_completed_successfully' },
    redis: { condition: 'service_healthy' },
  });
});

test.each(ours)(
  '%s is configured with known settings that fit together, and contains no secret value',
  (_, service) => {
    const given = Object.entries(service.environment ?? {}).filter(([name]) => name.startsWith('STRONGROOM_'));
    const known = settingPaths.map(environmentName);
    expect(given.map(([name]) => name).filter((name) => !known.includes(name))).toEqual([]);
    if (given.length === 0) return;
    const env = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
    expect(env).not.toHaveProperty('STRONGROOM_INSECURE_STORES');
    const loaded = loadConfig({ env, flags: {} });
    expect(loaded.ok ? [] : loaded.problems).toEqual([]);
    for (const [name, value] of given) {
      if (!/_(FILE|CERT|KEY)$/.test(name)) continue;
      expect(service.secrets).toContain(/^\/run\/secrets\/(\w+)$/.exec(String(value))?.[1]);
    }
  },
);

test.each(services)('%s uses only secrets that scripts/make-secrets.sh creates', (_name, { secrets = [] }) => {
  for (const name of secrets) {
    const file = compose.secrets[name]?.file.replace('./secrets/', '') ?? '';
    const [stem = '', kind = ''] = file.split('.');
    // In the script, `certificate NAME …` creates NAME.pem and NAME.key.
    const isMade = text('scripts/make-secrets.sh').includes(file);
    const isOfPair = ['pem', 'key'].includes(kind) && text('scripts/make-secrets.sh').includes(`certificate ${stem} `);
    expect([name, isMade || isOfPair]).toEqual([name, true]);
  }
});

test('EventStoreDB runs no projections, and Redis does not evict keys', () => {
  expect(compose.services['eventstoredb']?.environment).toMatchObject({ KURRENTDB_RUN_PROJECTIONS: 'None' });
  expect(compose.services['eventstoredb']?.environment).not.toHaveProperty('KURRENTDB_INSECURE');
  expect(text('scripts/make-secrets.sh')).toMatch(/appendonly yes[\s\S]*maxmemory-policy noeviction/);
});

test('an EventStoreDB leader that was deposed exits with 0 and is restarted', () => {
  expect(compose.services['eventstoredb']?.restart).toBe('always');
});

test('only the service that prepares the stores gets the administrators’ addresses, and that service gets no root key', () => {
  const having = (secret: string) =>
    services.filter(([, { secrets = [] }]) => secrets.includes(secret)).map(([name]) => name);
  expect(having('eventstore_admin_url')).toEqual(['cluster-prepare']);
  expect(having('mongodb_admin_url')).toEqual(['cluster-prepare']);
  expect(having('root_key')).not.toContain('cluster-prepare');
});

test('the image runs as its own user, contains no shell, writes no core dumps, and has a health check', () => {
  const lines = text('Dockerfile').split('\n');
  const last = (word: string): string => lines.filter((line) => line.startsWith(`${word} `)).at(-1) ?? '';
  expect(last('USER')).toBe('USER 10001:10001');
  expect(last('STOPSIGNAL')).toBe('STOPSIGNAL SIGTERM');
  expect(last('ENTRYPOINT')).toMatch(/^ENTRYPOINT \["prlimit", "--core=0:0", "--", "node", /);
  expect(lines.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true);
  for (const line of lines.filter((from) => from.startsWith('FROM '))) {
    expect(line).toMatch(/^FROM node:\d+\.\d+\.\d+-bookworm(-slim)?( AS build)?$/);
  }
  expect(text('Dockerfile')).toContain(`127.0.0.1:${settings['admin.port'].default}/health/live`);
});

test('the image is built only from listed files, so no secret or data gets into it', () => {
  const [first, ...others] = text('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('*');
  expect(
    others.every((line) => /^!(package(-lock)?\.json|tsconfig(\.build)?\.json|src|scripts\/\S+\.mjs)$/.test(line)),
  ).toBe(true);
});

test('the file for the console adds a port of this machine only, with settings that start, and bundles can be written', () => {
  const added: Compose = parse(text('deploy/compose/console.yml'));
  expect(Object.keys(added.services)).toEqual(['api-1']);
  const [console] = Object.values(added.services);
  expect(console?.ports).toEqual(['127.0.0.1:8090:8090']);
  // The file system is read-only, and os.tmpdir() returns /tmp.
  expect(compose.services['api-1']?.tmpfs).toEqual([expect.stringMatching(/^\/tmp:mode=1777,size=\d+m$/)]);
  const environment = { ...compose.services['api-1']?.environment, ...console?.environment };
  const env = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)]));
  const loaded = loadConfig({ env, flags: {} });
  expect(loaded.ok ? [] : loaded.problems).toEqual([]);
  expect(loaded.ok && loaded.config.settings['console.port']).toBe(8090);
});
