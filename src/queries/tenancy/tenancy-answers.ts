import type { AccessRule } from '../../domain/access/access-rule.js';
import type { JsonObject } from '../../domain/json.js';
import type { ApiKeyDocument, TenantDocument } from '../../domain/tenancy/documents.js';
import type { Stamps } from '../../domain/tenancy/stamps.js';
import { formatTimestamp } from '../../domain/time.js';
import type { LivingApplication } from '../../vault/open-directory.js';
import type { ListedKey } from './list-keys.js';

/**
 * Returns an application as it appears in API responses, without its API keys. Fields without a value are absent
 * (docs/contract.md, "HTTP conventions").
 */
export function applicationAnswer(tenantId: string, { id, document }: LivingApplication): JsonObject {
  const { name, type, access, expires_at: expiresAt } = document;
  return {
    id,
    tenant_id: tenantId,
    name,
    type,
    ...(access.kind === 'rules' ? { rules: access.rules.map(ruleAnswer) } : { permissions: access.permissions }),
    ...(expiresAt === null ? {} : { expires_at: formatTimestamp(expiresAt) }),
    ...stampsAnswer(document),
  };
}

/** Returns a live API key as it appears in API responses, without the secret. */
export function keyAnswer({ id, created_by, created_at }: ApiKeyDocument): JsonObject {
  return { id, created_by, created_at: formatTimestamp(created_at) };
}

/** Returns a live API key as it appears in lists, with the time of its last use but without the secret. */
export function listedKeyAnswer(key: ListedKey): JsonObject {
  const { lastUsedAt } = key;
  return { ...keyAnswer(key), ...(lastUsedAt === null ? {} : { last_used_at: formatTimestamp(lastUsedAt) }) };
}

/** The warning in responses to tenants that have enabled `show_fingerprints` (docs/contract.md, "Token types"). */
export const shownFingerprintsWarning =
  'show_fingerprints is "true": callers that see tokens masked or redacted also see their fingerprints. Equal ' +
  'values have equal fingerprints, so an application that may create tokens can find a hidden value by trying ' +
  'candidates, and no limit slows this down. If the first six and last four digits of a card number are known, ' +
  'only 100,000 candidates remain.';

/** Returns a tenant as it appears in API responses. */
export function tenantAnswer(id: string, document: TenantDocument): JsonObject {
  const { name, settings } = document;
  const warnings = settings.show_fingerprints === 'true' ? [shownFingerprintsWarning] : [];
  return {
    id,
    name,
    settings,
    ...stampsAnswer(document),
    ...(warnings.length === 0 ? {} : { _warnings: warnings }),
  };
}

function ruleAnswer({ description, ...rule }: AccessRule): JsonObject {
  return { ...(description === '' ? {} : { description }), ...rule };
}

export function stampsAnswer({ created_by, created_at, modified_by, modified_at }: Stamps): JsonObject {
  return {
    created_by,
    created_at: formatTimestamp(created_at),
    ...(modified_by === null ? {} : { modified_by }),
    ...(modified_at === null ? {} : { modified_at: formatTimestamp(modified_at) }),
  };
}
