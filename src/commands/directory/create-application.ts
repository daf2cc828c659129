import type { Secret } from '../../domain/secret.js';
import type { EventOrigin } from '../event-origin.js';
import type { Vault } from '../vault.js';
import { type ApplicationSpec, newApplication } from './new-application.js';

export type CreatedApplication = { readonly id: string; readonly key: Secret<string> };

/** Makes an application of a living tenant with its first key; null: there is no such tenant. */
export async function createApplication(
  vault: Vault,
  tenantId: string,
  spec: ApplicationSpec,
  origin: EventOrigin,
): Promise<CreatedApplication | null> {
  const tenant = await vault.directory.get('tenant', tenantId);
  const tenantKeys = tenant === null || tenant.removedAt !== null ? null : await vault.keys.tenantKeys(tenantId);
  if (tenantKeys === null) return null;
  const { id, key, write } = newApplication(vault, tenantKeys, tenantId, spec, origin);
  const { outcome } = await vault.work.commit({ writes: [write], claim: null });
  if (outcome !== 'committed') throw new Error('a stream with a random name was taken');
  return { id, key };
}
