import type { JsonObject } from '../../../domain/json.js';

const ids = {
  tenant: '1255abe4-56ce-48c5-926e-d06322349614',
  application: '5dc3f473-b758-4380-b444-1bb2b9affc6a',
  manager: '0a4c7a3b-6a0e-4a4f-8b6b-4d7f1f3b9c55',
  key: 'c7b1c1a9-0c2f-4f0e-9a45-5a2b6d1f7e10',
};
const createdAt = '2026-01-31T12:00:00.000+00:00';
const stamps = { created_by: ids.manager, created_at: createdAt };

export const applicationRequestExample: JsonObject = {
  name: 'Checkout',
  type: 'private',
  rules: [{ container: '/pci/', transform: 'mask', permissions: ['token:create', 'token:read'] }],
};

export const applicationExample: JsonObject = {
  ...{ id: ids.application, tenant_id: ids.tenant, name: 'Checkout', type: 'private' },
  rules: [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:create', 'token:read'] }],
  ...stamps,
};

export const apiKeyExample: JsonObject = { id: ids.key, ...stamps };

export const tenantExample: JsonObject = {
  ...{ id: ids.tenant, name: 'Example' },
  settings: { deduplicate_tokens: 'true', keep_superseded_data: 'false', show_fingerprints: 'false' },
  ...{ created_by: 'operator', created_at: createdAt },
};

export const historyEntryExample: JsonObject = {
  ...{ type: 'token.updated', revision: 1, actor_id: ids.application, trace_id: 'order-17' },
  ...{ created_at: createdAt, changed: ['metadata'] },
};

export const keyExample = 'sr_private_…';
