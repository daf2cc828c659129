/** Maps each id on a page to the real id that takes its place. The mapping grows with each response. */
export type KnownIds = Map<string, string>;

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
const variable: readonly (readonly [RegExp, string])[] = [
  [uuid, '<id>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|\+00:00)/g, '<time>'],
  [/\bsr_(private|public|management)_[0-9A-Za-z…]+/g, 'sr_$1_<key>'],
  [/(?<=^|\s|")[1-9A-HJ-NP-Za-km-z]{43,44}(?=$|\s|")/g, '<fingerprint>'],
  [/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g, '<reference>'],
  [/(?<=127\.0\.0\.1:)\d+/g, '<port>'],
];

/** Replaces every part of a string that differs from run to run with a placeholder. */
export function masked(text: string): string {
  return variable.reduce((now, [pattern, name]) => now.replace(pattern, name), text);
}

/**
 * Compares a real response with the response on the page, and returns the differences. Only keys, types, and values
 * that are the same in every run are compared.
 */
export function differences(said: unknown, real: unknown, ids: KnownIds, path = 'answer'): readonly string[] {
  if (Array.isArray(said) && Array.isArray(real)) {
    if (said.length !== real.length) return [`${path} has ${real.length} members, not ${said.length}`];
    return said.flatMap((member, index) => differences(member, real[index], ids, `${path}[${index}]`));
  }
  if (isObject(said) && isObject(real)) {
    const keys = [...new Set([...Object.keys(said), ...Object.keys(real)])];
    return keys.flatMap((key) => {
      if (!(key in real)) return [`${path}.${key} is on the page alone`];
      if (!(key in said)) return [`${path}.${key} is not on the page`];
      return differences(said[key], real[key], ids, `${path}.${key}`);
    });
  }
  if (typeof said === 'string' && typeof real === 'string') return textDifferences(said, real, ids, path);
  return Object.is(said, real) ? [] : [`${path} is ${JSON.stringify(real)}, not ${JSON.stringify(said)}`];
}

function textDifferences(said: string, real: string, ids: KnownIds, path: string): readonly string[] {
  if (masked(said) !== masked(real)) return [`${path} is ${JSON.stringify(real)}, not ${JSON.stringify(said)}`];
  const realIds = real.match(uuid) ?? [];
  return (said.match(uuid) ?? []).flatMap((id, index) => {
    const realId = realIds[index] ?? '';
    const known = ids.get(id) ?? realId;
    ids.set(id, known);
    return known === realId ? [] : [`${path}: ${id} stands for ${known} above and for ${realId} here`];
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
