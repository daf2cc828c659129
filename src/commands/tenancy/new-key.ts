import type { ApplicationType } from '../../domain/access/application-type.js';
import { Secret } from '../../domain/secret.js';
import { apiKeyHash, newApiKey } from '../../domain/tenancy/api-key.js';
import type { NewKey } from '../../domain/tenancy/directory-command.js';
import type { Vault } from '../../vault/vault.js';

/** A new API key, which is shown once, and what is stored of it. Never drawn from an idempotency key: it is a secret. */
export function newKey(
  { random }: Vault,
  type: ApplicationType,
): { readonly shown: Secret<string>; readonly stored: NewKey } {
  const key = newApiKey(type, (maxExclusive) => random.integer(maxExclusive));
  return { shown: new Secret(key), stored: { id: random.uuid(), hash: apiKeyHash(key) } };
}
