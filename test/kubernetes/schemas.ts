import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { type Manifest, tool } from './rendered.js';

type Schema = { readonly [name: string]: unknown };

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Makes the schema of an API server as strict as `kubectl apply --validate=strict`: an unknown field becomes an error.
 * A field that accepts both numbers and strings continues to accept both.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isSchema(schema)) return schema;
  const { format, 'x-kubernetes-int-or-string': isEither, ...rest } = schema;
  if (format === 'int-or-string' || isEither === true) return { type: ['integer', 'string'] };
  // Go patterns can contain `(?i)` to ignore case. The manifests are in lower case, so `(?i)` can be removed.
  const plain = (value: unknown) => (typeof value === 'string' ? value.replace('(?i)', '') : closed(value));
  const inner = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, name === 'pattern' ? plain(value) : closed(value)]),
  );
  const isOpen = rest['additionalProperties'] !== undefined || rest['x-kubernetes-preserve-unknown-fields'] === true;
  return isSchema(rest['properties']) && !isOpen ? { ...inner, additionalProperties: false } : inner;
}

/**
 * Returns a function that checks a manifest against the schemas of Kubernetes and the Prometheus operator, and that
 * returns the errors.
 */
export function manifestCheck(): (manifest: Manifest) => readonly string[] {
  const swagger = readFileSync(join(tool('KUBERNETES'), 'api/openapi-spec/swagger.json'), 'utf8');
  const { definitions }: { readonly definitions: Readonly<Record<string, Schema>> } = JSON.parse(swagger);
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema({ $id: 'kubernetes', definitions: closed(definitions) });
  const byKind = new Map<string, object>();
  for (const [name, definition] of Object.entries(definitions)) {
    const kinds = definition['x-kubernetes-group-version-kind'];
    if (!Array.isArray(kinds)) continue;
    for (const { group, version, kind } of kinds) {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      byKind.set(`${apiVersion} ${kind}`, { $ref: `kubernetes#/definitions/${name}` });
    }
  }
  for (const plural of ['servicemonitors', 'prometheusrules']) {
    const file = `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`;
    const { spec } = parse(readFileSync(join(tool('PROMETHEUS_OPERATOR'), file), 'utf8'));
    for (const { name, schema } of spec.versions) {
      const full = closed(schema.openAPIV3Schema);
      if (!isSchema(full) || !isSchema(full['properties'])) throw new Error(`${file} has no schema`);
      const metadata = { $ref: 'kubernetes#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
      byKind.set(`${spec.group}/${name} ${spec.names.kind}`, {
        ...full,
        properties: { ...full['properties'], metadata },
      });
    }
  }
  return (manifest) => {
    const kind = `${manifest.apiVersion} ${manifest.kind}`;
    const schema = byKind.get(kind);
    if (schema === undefined) return [`no schema of ${kind}`];
    const isValid: boolean = ajv.validate(schema, manifest);
    if (isValid) return [];
    return (ajv.errors ?? []).map(({ instancePath, message, params }) =>
      [kind, manifest.metadata?.name, instancePath, message, JSON.stringify(params)].join(' '),
    );
  };
}
