import type { ApplicationType } from '../../domain/access/application-type.js';
import { Secret } from '../../domain/secret.js';
import { apiKeyHash, newApiKey } from '../../domain/tenancy/api-key.js';
import type { NewKey } from '../../domain/tenancy/directory-command.js';
import type { Vault } from '../../vault/vault.js';

/**
 * Returns a new API key, both in plaintext and in its stored form. API keys are secret, so they are never derived from
 * an idempotency key.
 */
export function newKey(
  { random }: Pick<Vault, 'random'>,
  type: ApplicationType,
): { readonly shown: Secret<string>; readonly stored: NewKey } {
  const key = newApiKey(type, (maxExclusive) => random.integer(maxExclusive));
  return { shown: new Secret(key), stored: { id: random.uuid(), hash: apiKeyHash(key) } };
}
