import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

export const chart = fileURLToPath(new URL('../../deploy/helm/strongroom', import.meta.url));
export const profiles = ['embedded', 'cluster'] as const;
export type Profile = (typeof profiles)[number];

/** Returns the path or the version of a tool or schema that scripts/kubernetes-tools.sh has prepared. */
export function tool(
  name: 'HELM' | 'KUBERNETES' | 'KUBERNETES_VERSION' | 'PROMETHEUS_OPERATOR' | 'PROMETHEUS',
): string {
  const value = process.env[`STRONGROOM_TEST_${name}`];
  if (value === undefined) throw new Error('run this by: npm run test:kubernetes');
  return value;
}

const version = () => ['--kube-version', tool('KUBERNETES_VERSION')];
const valuesOf = (profile: Profile) => ['--values', join(chart, 'ci', `${profile}-values.yaml`)];

export function lint(profile: Profile) {
  return spawnSync(tool('HELM'), ['lint', '--strict', chart, ...version(), ...valuesOf(profile)], { encoding: 'utf8' });
}

/** Values that override the values in `ci/`. */
export type Values = { readonly [name: string]: unknown };

/** Renders the chart as `helm template` does. If helm rejects the values, throws an error with helm's message. */
export function render(profile: Profile, values: Values = {}, release = 'strongroom'): readonly Manifest[] {
  const place = mkdtempSync(join(tmpdir(), 'strongroom-values-'));
  try {
    const file = join(place, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    const given = ['template', release, chart, ...version(), ...valuesOf(profile), '--values', file];
    const text = execFileSync(tool('HELM'), given, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return parseAllDocuments(text).flatMap((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      const manifest: Manifest | null = document.toJS();
      return manifest === null ? [] : [manifest];
    });
  } finally {
    rmSync(place, { recursive: true });
  }
}

export type Volume = {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly defaultMode: number };
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
};
type Probe = { readonly httpGet: { readonly path: string; readonly port: string }; readonly [name: string]: unknown };
export type Container = {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources?: unknown;
};
export type PodSpec = {
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
  readonly terminationGracePeriodSeconds?: number;
  readonly affinity?: {
    readonly podAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly {
        readonly labelSelector: Selector & { readonly matchExpressions?: readonly unknown[] };
      }[];
    };
  };
  readonly [name: string]: unknown;
};
type Labels = Readonly<Record<string, string>>;
type PodTemplate = { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
export type Selector = { readonly matchLabels: Labels };
/** The parts of a manifest that the tests read. The schemas check all other parts. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Labels; readonly annotations?: Labels };
  readonly data?: Labels;
  readonly automountServiceAccountToken?: boolean;
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: Selector & Labels;
    readonly podSelector?: Selector;
    readonly template?: PodTemplate;
    readonly jobTemplate?: {
      readonly spec: { readonly activeDeadlineSeconds?: number; readonly template: PodTemplate };
    };
    readonly [name: string]: unknown;
  };
};

export type Pod = { readonly of: string; readonly labels: Labels; readonly spec: PodSpec };

/** Returns every pod that the manifests create. */
export function podsOf(manifests: readonly Manifest[]): readonly Pod[] {
  return manifests.flatMap(({ kind, metadata, spec }) => {
    const template = spec?.template ?? spec?.jobTemplate?.spec.template;
    if (template === undefined) return [];
    return [{ of: `${kind} ${metadata.name}`, labels: template.metadata.labels, spec: template.spec }];
  });
}

export function selects(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}
