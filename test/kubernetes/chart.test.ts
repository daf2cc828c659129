import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '#src/compose/config/config.js';
import { environmentName } from '#src/compose/config/setting.js';
import { settingPaths } from '#src/compose/config/settings.js';
import { chart, lint, type Manifest, podsOf, profiles, render, selects } from './rendered.js';
import { manifestCheck } from './schemas.js';

/** For each set of values, the chart renders different manifests. */
const variants = profiles.flatMap((profile) => [
  [profile, 'as it is by default', {}] as const,
  [profile, 'in maintenance', { maintenance: true }] as const,
  [
    profile,
    'with all values set',
    {
      image: { digest: `sha256:${'0'.repeat(64)}`, pullSecrets: ['registry'] },
      settings: { STRONGROOM_RATE_LIMIT_REQUESTS: '5000' },
      tls: { existingSecret: 'tls', trustedProxies: ['10.1.2.3', '10.2.0.0/16'] },
      console: { enabled: true },
      service: { type: 'LoadBalancer', annotations: { a: 'b' } },
      embedded: { persistence: { storageClassName: 'fast' } },
      cluster: { api: { paused: true }, worker: { paused: true } },
      files: { existingSecret: 'files' },
      extraEnv: [
        { name: 'OTEL_EXPORTER_OTLP_CERTIFICATE', value: '/run/strongroom/files/collector.pem' },
        { name: 'OTEL_EXPORTER_OTLP_HEADERS', valueFrom: { secretKeyRef: { name: 'collector', key: 'headers' } } },
      ],
      temporaryFiles: { size: '2Gi', storageClassName: 'fast' },
      backup: { persistence: { storageClassName: 'slow' } },
      networkPolicy: {
        stores: { peers: [{ ipBlock: { cidr: '10.3.0.0/16' } }] },
        internetPorts: [443, 8443],
        extraEgress: [{ ports: [{ port: 443 }] }],
      },
      monitoring: { labels: { release: 'prometheus' } },
      serviceAccount: { annotations: { c: 'd' } },
      podAnnotations: { e: 'f' },
      podLabels: { g: 'h' },
      nodeSelector: { disk: 'fast' },
      tolerations: [{ key: 'vault', operator: 'Exists' }],
      priorityClassName: 'high',
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
    },
  ] as const,
  [
    profile,
    'with the fewest possible values',
    {
      backup: { enabled: false, persistence: { existingClaim: 'backups' } },
      embedded: { persistence: { existingClaim: 'data' } },
      monitoring: { enabled: false, dashboard: false },
      networkPolicy: { clients: [], monitoring: [] },
    },
  ] as const,
]);

let check: ReturnType<typeof manifestCheck>;
beforeAll(() => {
  check = manifestCheck();
});

test.each(profiles)('helm lint --strict accepts the chart with the values for %s', (profile) => {
  const { status, stdout, stderr } = lint(profile);
  expect([status, stderr, stdout]).toEqual([0, '', expect.stringContaining('1 chart(s) linted, 0 chart(s) failed')]);
});

const common = [
  'ConfigMap',
  'CronJob',
  'CronJob',
  'NetworkPolicy',
  'NetworkPolicy',
  'PersistentVolumeClaim',
  'PrometheusRule',
];
test.each([
  ['embedded', [...common, 'PersistentVolumeClaim', 'StatefulSet']],
  ['cluster', [...common, 'Deployment', 'Deployment', 'PodDisruptionBudget', 'PodDisruptionBudget']],
] as const)('the chart for %s creates the manifests that the page lists', (profile, kinds) => {
  const services = ['Service', 'Service', 'ServiceAccount', 'ServiceMonitor'];
  expect(
    render(profile)
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual([...kinds, ...services].sort());
});

describe.each(variants)('%s %s', (profile, _how, values) => {
  let manifests: readonly Manifest[];
  let pods: ReturnType<typeof podsOf>;
  beforeAll(() => {
    manifests = render(profile, values, 'vault');
    pods = podsOf(manifests);
  });
  const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);

  test('every manifest passes the schemas of its API server, without unknown fields', () => {
    expect(manifests.flatMap(check)).toEqual([]);
    expect(manifests.length).toBeGreaterThan(4);
  });

  test('names are unique, and no manifest contains a secret', () => {
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(ofKind('Secret')).toEqual([]);
  });

  test('every pod runs without privileges, on a read-only file system, and without variables or a token from Kubernetes', () => {
    expect(pods.length).toBeGreaterThan(0);
    for (const { of, spec } of pods) {
      expect([of, spec]).toMatchObject([
        of,
        {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 10001,
            runAsGroup: 10001,
            fsGroup: 10001,
            seccompProfile: { type: 'RuntimeDefault' },
          },
        },
      ]);
      for (const part of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers']) expect(spec).not.toHaveProperty(part);
      for (const container of spec.containers) {
        expect(container).toMatchObject({
          image: expect.stringMatching(/^registry\.example\/strongroom(:0\.1\.0|@sha256:0{64})$/),
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          resources: { requests: { cpu: expect.any(String), memory: expect.any(String) }, limits: { memory: '1Gi' } },
        });
        // If a manifest replaces the command of the image, the new command must disable core dumps too.
        if (container.command !== undefined) {
          expect(container.command.slice(0, 3)).toEqual(['prlimit', '--core=0:0', '--']);
        }
      }
    }
  });

  test('secrets are mounted from existing Secrets and only for the service’s group, and every mount has a volume', () => {
    for (const { of, spec } of pods) {
      for (const { name, secret } of spec.volumes) {
        if (secret === undefined) continue;
        expect([of, name, secret.defaultMode]).toEqual([of, name, 0o440]);
        expect(secret.secretName).not.toBe('');
      }
      const names = spec.volumes.map(({ name }) => name).sort();
      for (const { volumeMounts } of spec.containers)
        expect(volumeMounts.map(({ name }) => name).sort()).toEqual(names);
    }
    const claims = ofKind('PersistentVolumeClaim');
    for (const { metadata } of claims) expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    const mine = pods.flatMap(({ spec }) => spec.volumes.flatMap((volume) => volume.persistentVolumeClaim ?? []));
    for (const { claimName } of mine) {
      expect(['data', 'backups', ...claims.map(({ metadata }) => metadata.name)]).toContain(claimName);
    }
  });

  test('every setting is known and fits the others, and every file that a setting names is mounted', () => {
    const known = settingPaths.map(environmentName);
    for (const { of, spec } of pods) {
      for (const { env, volumeMounts } of spec.containers) {
        const given = env.filter(({ name }) => name.startsWith('STRONGROOM_'));
        expect([of, given.map(({ name }) => name).filter((name) => !known.includes(name))]).toEqual([of, []]);
        const loaded = loadConfig({
          env: Object.fromEntries(given.map(({ name, value }) => [name, value])),
          flags: {},
        });
        expect([of, loaded.ok ? [] : loaded.problems]).toEqual([of, []]);
        for (const { name, value } of env) {
          if (!/(_FILE|_CERT|_KEY|_CERTS|_DATA)$/.test(name)) continue;
          const mount = volumeMounts.find(({ mountPath }) => value.startsWith(`${mountPath}/`));
          expect([of, name, mount?.readOnly ?? false]).toEqual([of, name, name !== 'STRONGROOM_DATA']);
        }
      }
    }
  });

  test('a NetworkPolicy covers every pod in both directions, and allows calls only to processes that listen', () => {
    const policies = ofKind('NetworkPolicy');
    const [everything] = policies.filter(({ metadata }) => metadata.name === 'vault-strongroom');
    expect(everything?.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
    const selectorOf = (manifest?: Manifest) => manifest?.spec.podSelector?.matchLabels ?? { none: '' };
    for (const { of, labels } of pods) expect([of, selects(selectorOf(everything), labels)]).toEqual([of, true]);
    const [clients] = policies.filter(({ metadata }) => metadata.name === 'vault-strongroom-clients');
    const [service] = ofKind('Service').filter(({ metadata }) => metadata.name === 'vault-strongroom');
    for (const { of, labels, spec } of pods) {
      const listens = spec.containers.some(({ ports = [] }) => ports.some(({ name }) => name === 'api'));
      if (clients !== undefined) expect([of, selects(selectorOf(clients), labels)]).toEqual([of, listens]);
      expect([of, selects(service?.spec.selector ?? { none: '' }, labels)]).toEqual([of, listens]);
    }
  });

  test('every serving process has three probes on the admin listener, and enough time to stop', () => {
    const serving = pods.filter(({ spec }) => spec.containers.some(({ args }) => args?.[0] === 'serve'));
    expect(serving.map(({ of }) => of)).toEqual(
      profile === 'embedded'
        ? ['StatefulSet vault-strongroom']
        : ['Deployment vault-strongroom-api', 'Deployment vault-strongroom-worker'],
    );
    for (const { spec } of serving) {
      const [container] = spec.containers;
      const probe = (path: string) => ({ httpGet: { path, port: 'admin' } });
      expect(container).toMatchObject({
        startupProbe: { ...probe('/health/live'), failureThreshold: 300, periodSeconds: 2 },
        livenessProbe: probe('/health/live'),
        readinessProbe: probe('/health/ready'),
      });
      const env = new Map(container?.env.map(({ name, value }) => [name, value]));
      expect(container?.ports).toContainEqual({
        name: 'admin',
        containerPort: Number(env.get('STRONGROOM_ADMIN_PORT')),
      });
      expect(env.get('STRONGROOM_ADMIN_HOST')).toBe('0.0.0.0');
      // After the shutdown delay, the program needs up to fifteen seconds to stop.
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(
        Number(env.get('STRONGROOM_SHUTDOWN_DELAY_SECONDS')) + 15,
      );
    }
  });

  test('Prometheus finds the admin listener of every serving process, even if the process is not ready', () => {
    const [admin] = ofKind('Service').filter(({ metadata }) => metadata.name === 'vault-strongroom-admin');
    expect(admin?.spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
    for (const { labels } of pods) expect(selects(admin?.spec.selector ?? { none: '' }, labels)).toBe(true);
    for (const { spec } of ofKind('ServiceMonitor')) {
      expect(selects(spec.selector?.matchLabels ?? { none: '' }, admin?.metadata.labels ?? {})).toBe(true);
    }
  });

  test('every Deployment that serves has a disruption budget that lets a node be drained, and is updated without a gap', () => {
    const deployments = ofKind('Deployment').filter(({ metadata }) => metadata.name !== 'vault-strongroom-maintenance');
    const budgets = ofKind('PodDisruptionBudget');
    expect(budgets.map(({ spec }) => [spec.selector?.matchLabels, spec['maxUnavailable']])).toEqual(
      deployments.map(({ spec }) => [spec.selector?.matchLabels, 1]),
    );
    for (const { spec } of deployments) {
      expect(spec['strategy']).toMatchObject({ rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
    }
  });
});

test('backups get the root key only if no running process can authenticate them, and run on the node with the volume', () => {
  for (const profile of profiles) {
    const jobs = podsOf(render(profile)).filter(({ of }) => of.startsWith('CronJob'));
    // Otherwise, a job that hangs would prevent all later jobs.
    const deadlines = render(profile).flatMap(({ spec }) => spec?.jobTemplate?.spec.activeDeadlineSeconds ?? []);
    expect(deadlines).toEqual([12 * 3_600, 14 * 60]);
    expect(jobs.map(({ of }) => of)).toEqual(['CronJob strongroom-backup', 'CronJob strongroom-erased-keys']);
    for (const { labels, spec } of jobs) {
      const { affinity } = spec;
      const [container] = spec.containers;
      const rootKey = container?.env.find(({ name }) => name === 'STRONGROOM_ROOT_KEY_FILE');
      if (profile === 'cluster') {
        // Both jobs use one volume. Its own labels let the first job run on any node.
        const [term] = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
        expect(term?.labelSelector.matchExpressions).toEqual([
          { key: 'app.kubernetes.io/component', operator: 'In', values: ['backup', 'erased-keys'] },
        ]);
        expect(labels).toMatchObject(term?.labelSelector.matchLabels ?? { none: '' });
        expect(['backup', 'erased-keys']).toContain(labels['app.kubernetes.io/component']);
        expect(rootKey).toEqual({ name: 'STRONGROOM_ROOT_KEY_FILE', value: '/run/strongroom/root-key/root.key' });
        expect(JSON.stringify(spec)).toContain('"mountPath":"/run/strongroom/root-key"');
      } else {
        expect(affinity).toHaveProperty('podAffinity.requiredDuringSchedulingIgnoredDuringExecution');
        expect(JSON.stringify(spec)).not.toMatch(/root.?key/i);
      }
    }
  }
});

test('during a rotation, every container with the root key also gets the next one, and no other container does', () => {
  for (const profile of profiles) {
    const named = 'strongroom-root-key-2';
    for (const maintenance of [false, true]) {
      for (const { of, spec } of podsOf(render(profile, { maintenance, rootKey: { nextExistingSecret: named } }))) {
        const names = spec.containers.flatMap(({ env }) => env.map(({ name }) => name));
        const hasRootKey = names.includes('STRONGROOM_ROOT_KEY_FILE');
        expect(names.includes('STRONGROOM_NEXT_ROOT_KEY_FILE'), of).toBe(hasRootKey);
        const text = JSON.stringify(spec);
        expect(text.includes('"mountPath":"/run/strongroom/next-root-key","readOnly":true'), of).toBe(hasRootKey);
        expect(text.includes(`"secretName":"${named}"`), of).toBe(hasRootKey);
      }
    }
    expect(JSON.stringify(render(profile))).not.toMatch(/next.?root.?key/i);
  }
});

test('a StatefulSet replaces a pod that never becomes ready, so that a corrected upgrade or a rollback takes effect', () => {
  const [vault] = render('embedded').filter(({ kind }) => kind === 'StatefulSet');
  // The default, OrderedReady, waits for the old pod.
  expect(vault?.spec).toMatchObject({ replicas: 1, podManagementPolicy: 'Parallel' });
});

test('an upgrade can replace the API processes and the workers one after the other', () => {
  const pausedOf = (cluster: object) =>
    Object.fromEntries(
      render('cluster', { cluster })
        .filter(({ kind }) => kind === 'Deployment')
        .map(({ metadata, spec }) => [metadata.name.replace('strongroom-', ''), spec['paused']]),
    );
  expect(pausedOf({})).toEqual({ api: false, worker: false });
  expect(pausedOf({ api: { paused: true } })).toEqual({ api: true, worker: false });
  expect(pausedOf({ worker: { paused: true } })).toEqual({ api: false, worker: true });
});

test('the pod that prepares an upgrade of a cluster has the new version, and needs no volume that another pod may use', () => {
  const values = { maintenance: true, backup: { enabled: false }, image: { tag: '0.2.0' } };
  const [pod] = podsOf(render('cluster', values)).filter(({ of }) => of === 'Deployment strongroom-maintenance');
  expect(pod?.spec.containers.map(({ image }) => image)).toEqual(['registry.example/strongroom:0.2.0']);
  expect(pod?.spec.volumes.filter(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined)).toEqual([]);
});

test.each(profiles)('%s writes temporary files in memory up to the size, or on a volume of the class', (profile) => {
  const temporaryOf = (values: Parameters<typeof render>[1]) =>
    podsOf(render(profile, values)).map(({ of, spec }) => ({
      serves: /^(?:StatefulSet|Deployment) strongroom(?:-api|-worker)?$/.test(of),
      volume: spec.volumes.find(({ name }) => name === 'tmp'),
    }));
  const inMemory = (sizeLimit: string) => ({ name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit } });
  const spec = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'fast',
    resources: { requests: { storage: '5Gi' } },
  };
  const onVolume = { name: 'tmp', ephemeral: { volumeClaimTemplate: { spec } } };
  for (const [temporaryFiles, expected] of [
    [{ size: '256Mi' }, inMemory('256Mi')],
    [{ size: '5Gi', storageClassName: 'fast' }, onVolume],
  ] as const) {
    const serving = temporaryOf({ temporaryFiles }).filter(({ serves }) => serves);
    expect(serving.length).toBeGreaterThan(0);
    for (const { volume } of serving) expect(volume).toEqual(expected);
    // The files of a command can contain passwords.
    for (const values of [{ temporaryFiles }, { temporaryFiles, maintenance: true }]) {
      const commands = temporaryOf(values).filter(({ serves }) => !serves);
      expect(commands.length).toBeGreaterThan(0);
      for (const { volume } of commands) expect(volume).toEqual(inMemory('64Mi'));
    }
  }
});

test.each(profiles)(
  '%s gets further variables and files in its processes and in maintenance, not in backups',
  (profile) => {
    const extraEnv = [{ name: 'OTEL_EXPORTER_OTLP_HEADERS', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }];
    for (const maintenance of [false, true]) {
      for (const { of, spec } of podsOf(render(profile, { maintenance, extraEnv, files: { existingSecret: 'c' } }))) {
        const [container] = spec.containers;
        const gets = !of.startsWith('CronJob');
        const given = container?.env.filter(({ name }) => name.startsWith('OTEL_'));
        expect([of, given]).toEqual([of, gets ? extraEnv : []]);
        const mounted = container?.volumeMounts.filter(({ mountPath }) => mountPath === '/run/strongroom/files');
        expect([of, mounted]).toEqual([
          of,
          gets ? [{ name: 'files', mountPath: '/run/strongroom/files', readOnly: true }] : [],
        ]);
      }
    }
  },
);

test.each(profiles)('%s reaches public addresses only if the values say so, and backups never do', (profile) => {
  const policyOf = (networkPolicy: object) =>
    render(profile, { networkPolicy }).find(({ metadata }) => metadata.name === 'strongroom-internet');
  expect(policyOf({})).toBeUndefined();
  const { podSelector, ...spec } = policyOf({ internetPorts: [443] })?.spec ?? {};
  expect(podSelector).toMatchObject({
    matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'In', values: ['vault', 'api', 'worker'] }],
  });
  expect(spec).toMatchObject({
    policyTypes: ['Egress'],
    egress: [
      { ports: [{ port: 53 }, { port: 53 }] },
      {
        to: [
          { ipBlock: { cidr: '0.0.0.0/0', except: expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16']) } },
          { ipBlock: { cidr: '::/0', except: expect.arrayContaining(['fc00::/7', '64:ff9b::/96']) } },
        ],
        ports: [{ port: 443, protocol: 'TCP' }],
      },
    ],
  });
});

test.each(profiles)('the example for %s trusts no network in which other pods can be', (profile) => {
  const { tls } = parse(readFileSync(join(chart, 'ci', `${profile}-values.yaml`), 'utf8'));
  for (const proxy of tls.trustedProxies ?? []) expect(proxy).not.toContain('/');
});

test('in maintenance, no pod serves, and one pod has everything that init and restore need', () => {
  for (const profile of profiles) {
    const manifests = render(profile, { maintenance: true });
    const workloads = manifests.filter(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind));
    const idle = workloads.filter(({ metadata }) => metadata.name === 'strongroom-maintenance');
    const others = workloads.filter((workload) => !idle.includes(workload));
    expect(new Set(others.map(({ spec }) => spec.replicas))).toEqual(new Set([0]));
    const [serving] = podsOf(others);
    const [pod] = podsOf(idle);
    // The volume can be attached to only one pod. A bare Pod could not be upgraded, because its fields are immutable.
    expect(idle.map(({ kind, spec }) => [kind, spec.strategy])).toEqual([['Deployment', { type: 'Recreate' }]]);
    expect(manifests.filter(({ kind }) => kind === 'Pod')).toEqual([]);
    const envOf = (spec = pod?.spec) => new Map(spec?.containers[0]?.env.map(({ name, value }) => [name, value]));
    for (const [name, value] of envOf()) expect(envOf(serving?.spec).get(name)).toBe(value);
    expect(envOf().has('STRONGROOM_ROOT_KEY_FILE')).toBe(true);
  }
});

test.each(profiles)(
  '%s serves the console only if it is turned on, on the loopback of processes that listen',
  (profile) => {
    const consolesOf = (enabled: boolean) =>
      podsOf(render(profile, { console: { enabled }, tls: { existingSecret: 'tls' } })).flatMap(({ of, spec }) =>
        spec.containers.flatMap(({ env, ports = [] }) => {
          const given = env.filter(({ name }) => name.startsWith('STRONGROOM_CONSOLE_'));
          expect([of, ports.map(({ containerPort }) => containerPort)]).toEqual([
            of,
            expect.not.arrayContaining([8090]),
          ]);
          return given.length === 0 ? [] : [{ of, given }];
        }),
      );
    expect(consolesOf(false)).toEqual([]);
    const of = profile === 'embedded' ? 'StatefulSet strongroom' : 'Deployment strongroom-api';
    expect(consolesOf(true)).toEqual([{ of, given: [{ name: 'STRONGROOM_CONSOLE_ENABLED', value: 'true' }] }]);
  },
);

test.each([
  ['embedded', 'no Secret with the root key', { rootKey: { existingSecret: '' } }, /existingSecret/],
  ['embedded', 'no image', { image: { repository: '' } }, /repository/],
  ['embedded', 'the tag latest', { image: { tag: 'latest' } }, /tag/],
  ['embedded', 'neither TLS nor a proxy that ends it', { tls: { existingSecret: '' } }, /trustedProxies/],
  ['embedded', 'a value that nobody knows', { replicas: 3 }, /replicas/],
  ['embedded', 'a profile that nobody knows', { profile: 'both' }, /profile/],
  [
    'embedded',
    'a setting that the chart owns',
    { settings: { STRONGROOM_ADMIN_PORT: 'off' } },
    /STRONGROOM_ADMIN_PORT/,
  ],
  ['embedded', 'a store address in plaintext', { settings: { STRONGROOM_REDIS_URL: 'x' } }, /STRONGROOM_REDIS_URL/],
  ['embedded', 'a backup that no one can open', { backup: { recipients: [] } }, /recipients/],
  [
    'embedded',
    'a console that a tunnel cannot reach',
    { console: { enabled: true }, tls: { existingSecret: '', trustedProxies: ['10.1.2.3'] } },
    /existingSecret/,
  ],
  [
    'embedded',
    'a command for the root key',
    { settings: { STRONGROOM_ROOT_KEY_COMMAND: '["x"]' } },
    /ROOT_KEY_COMMAND/,
  ],
  [
    'embedded',
    'a next root key in the settings',
    { settings: { STRONGROOM_NEXT_ROOT_KEY_FILE: 'x' } },
    /NEXT_ROOT_KEY/,
  ],
  ['embedded', 'a setting among the variables', { extraEnv: [{ name: 'STRONGROOM_DEV', value: 'true' }] }, /extraEnv/],
  ['cluster', 'authorities twice', { extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: 'x' }] }, /extraEnv/],
  ['embedded', 'the port of the console', { settings: { STRONGROOM_CONSOLE_PORT: '1' } }, /STRONGROOM_CONSOLE_PORT/],
  ['cluster', 'no addresses of stores', { cluster: { stores: { existingSecret: '' } } }, /existingSecret/],
  ['cluster', 'no API process', { cluster: { api: { replicas: 0 } } }, /replicas/],
] as const)('%s with %s is rejected', (profile, _what, values, message) => {
  expect(() => render(profile, values)).toThrow(message);
});

test('the check of manifests finds errors', () => {
  const [deployment] = render('cluster').filter(({ kind }) => kind === 'Deployment');
  if (deployment === undefined) throw new Error('no Deployment');
  expect(check(deployment)).toEqual([]);
  const { spec } = deployment;
  expect(check({ ...deployment, spec: { ...spec, replica: 3 } }).join()).toContain('replica');
  expect(check({ ...deployment, spec: { ...spec, minReadySeconds: '3' } }).join()).toContain('minReadySeconds');
  expect(check({ ...deployment, kind: 'Deploiment' })).toEqual(['no schema of apps/v1 Deploiment']);
  const [monitor] = render('cluster').filter(({ kind }) => kind === 'ServiceMonitor');
  if (monitor === undefined) throw new Error('no ServiceMonitor');
  expect(check({ ...monitor, spec: { ...monitor.spec, endpoint: [] } }).join()).toContain('endpoint');
});

test('every value is in the schema, and the page describes it', () => {
  const text = readFileSync(join(chart, 'values.yaml'), 'utf8');
  const page = readFileSync(join(chart, '../../../docs/how-to/run-on-kubernetes.md'), 'utf8');
  const { properties }: { readonly properties: object } = JSON.parse(
    readFileSync(join(chart, 'values.schema.json'), 'utf8'),
  );
  const names = Object.keys(parse(text)).sort();
  expect(
    Object.keys(properties)
      .filter((name) => name !== 'global')
      .sort(),
  ).toEqual(names);
  expect(names.filter((name) => !page.includes(`\`${name}\``) && !page.includes(`\`${name}.`))).toEqual([]);
});
