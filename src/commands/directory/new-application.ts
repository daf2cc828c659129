import type { ApplicationType } from '../../domain/access/application-type.js';
import { apiKeyHash, newApiKey } from '../../domain/directory/api-key.js';
import type { AccessDocument } from '../../domain/directory/documents.js';
import { Secret } from '../../domain/secret.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import type { StreamWrite } from '../../ports/unit-of-work.js';
import type { EventOrigin } from '../event-origin.js';
import type { Vault } from '../vault.js';
import { newRecord } from './new-record.js';

export type ApplicationSpec = {
  readonly name: string;
  readonly type: ApplicationType;
  readonly access: AccessDocument;
};

export type NewApplication = {
  readonly id: string;
  /** Shown once; only its hash is stored. */
  readonly key: Secret<string>;
  readonly write: StreamWrite;
};

/** A new application with its first key, ready to be committed. */
export function newApplication(
  vault: Vault,
  tenantKeys: TenantKeys,
  tenantId: string,
  spec: ApplicationSpec,
  origin: EventOrigin,
): NewApplication {
  const id = vault.random.uuid();
  const key = newApiKey(spec.type, (maxExclusive) => vault.random.integer(maxExclusive));
  const stored = { id: vault.random.uuid(), hash: apiKeyHash(key), created_by: origin.actorId, created_at: origin.at };
  const document = { ...spec, expires_at: null, keys: [stored] };
  const write = newRecord(vault, tenantKeys, tenantId, { kind: 'application', id, document }, origin);
  return { id, key: new Secret(key), write };
}
