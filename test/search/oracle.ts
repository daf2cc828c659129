import type { AccessRule } from '#src/domain/access/access-rule.js';
import type { TokenPermission } from '#src/domain/access/permission.js';
import type { Json, JsonObject } from '#src/domain/json.js';
import type { Query } from '#src/search/query/syntax-tree.js';

/** A token in the form that the test expects: revealed, masked, and with the values of its search indexes. */
export type PlainToken = {
  readonly revealed: JsonObject;
  readonly masked: JsonObject;
  readonly indexValues: readonly string[];
  readonly order: number;
};

/**
 * Returns true if a token matches the query according to the specification. Examines the token itself, without an
 * index.
 */
export function matches(query: Query, { revealed, indexValues }: PlainToken): boolean {
  const token = { revealed, indexValues, masked: {}, order: 0 };
  switch (query.kind) {
    case 'everything':
      return true;
    case 'and':
      return query.of.every((child) => matches(child, token));
    case 'or':
      return query.of.some((child) => matches(child, token));
    case 'not':
      return !matches(query.of, token);
    case 'text':
      if (query.field === 'id' || query.field === 'fingerprint') return revealed[query.field] === query.value;
      if (query.field === 'data') return indexValues.some((value) => same(value, query.value));
      return revealed[query.field] !== undefined && same(String(revealed[query.field]), query.value);
    case 'metadata':
      return Object.entries((revealed['metadata'] ?? {}) as Record<string, string>).some(
        ([key, value]) => same(key, query.key) && same(value, query.value),
      );
    case 'container':
      return containersOf(revealed).some((path) =>
        query.within ? path.startsWith(query.path.toLowerCase()) : path === query.path.toLowerCase(),
      );
    case 'date': {
      const at = revealed[query.field];
      if (typeof at !== 'string') return false;
      return Date.parse(at) >= (query.from ?? -Infinity) && Date.parse(at) < (query.to ?? Infinity);
    }
  }
}

function same(one: string, other: string): boolean {
  return simple(one) === simple(other);
}

function simple(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase();
}

function containersOf(token: JsonObject): readonly string[] {
  return token['containers'] as readonly string[];
}

/**
 * Returns the form in which a caller with these rules sees a token, or null if the caller cannot see the token
 * (docs/contract.md, "Access rules").
 */
export function seenBy(
  rules: readonly AccessRule[],
  permission: TokenPermission,
  { revealed, masked }: PlainToken,
): Json | null {
  const [first] = [...rules]
    .sort((a, b) => a.priority - b.priority)
    .filter((rule) => rule.permissions.includes(permission))
    .filter((rule) => containersOf(revealed).some((path) => path.startsWith(rule.container)));
  if (first === undefined) return null;
  if (first.transform === 'mask') return masked;
  // The fingerprint is visible only with the transform `reveal`.
  const { data, fingerprint, ...others } = revealed;
  return first.transform === 'reveal' ? revealed : others;
}
