import type { DirectoryFact, DirectoryFactType } from '../../domain/tenancy/directory-fact.js';
import { type NewEvent, noSealedParts } from '../../events/event.js';
import { type DirectoryClear, directoryEventVersion } from '../../events/tenancy/catalogue.js';
import { sealDocument } from '../../events/tenancy/documents.js';
import { tenantStream } from '../../events/tenancy/streams.js';
import type { TenantKeys } from '../../keys/key-ring.js';
import type { Vault } from '../../vault/vault.js';
import { type EventOrigin, sealOrigin } from '../event-origin.js';

/**
 * Returns the events for the decided facts, with their documents encrypted. `revision` is the newest revision of the
 * tenant's stream before these events.
 */
export function sealDirectoryEvents(
  { random }: Pick<Vault, 'random'>,
  tenantKeys: TenantKeys,
  { tenantId, revision }: { readonly tenantId: string; readonly revision: number },
  facts: readonly DirectoryFact[],
  origin: EventOrigin,
): readonly NewEvent[] {
  return facts.map((fact, index) => {
    const place = { tenantId, stream: tenantStream(tenantId), revision: revision + 1 + index };
    const content = 'document' in fact ? sealDocument(tenantKeys.directory, fact.document, place) : null;
    return {
      id: random.uuid(),
      type: fact.type,
      version: directoryEventVersion,
      tenantId,
      actorId: origin.actorId,
      time: origin.at,
      cmd: origin.cmd,
      ...sealOrigin(tenantKeys, origin, place),
      clear: clearOf(fact),
      sealed: { ...noSealedParts, content },
    };
  });
}

function clearOf(fact: DirectoryFact) {
  switch (fact.type) {
    case 'tenant.created':
    case 'tenant.deleted':
      return clear<typeof fact.type>({});
    case 'tenant.updated':
      return clear<'tenant.updated'>({ changed: [...fact.changed] });
    case 'webhook.created':
    case 'webhook.deleted':
      return clear<typeof fact.type>({ webhook_id: fact.webhookId });
    case 'webhook.updated':
      return clear<'webhook.updated'>({ webhook_id: fact.webhookId, changed: [...fact.changed] });
    case 'application.created':
      return clear<'application.created'>({ application_id: fact.applicationId, application_type: fact.document.type });
    case 'application.updated':
      return clear<'application.updated'>({ application_id: fact.applicationId, changed: [...fact.changed] });
    case 'application.deleted':
      return clear<'application.deleted'>({ application_id: fact.applicationId });
    case 'application.key.issued':
    case 'application.key.revoked': {
      const { applicationId, keyId, keyHash } = fact;
      return clear<typeof fact.type>({ application_id: applicationId, key_id: keyId, key_hash: keyHash });
    }
  }
}

/** Makes the compiler check the plaintext part of an event against the schema that later parses it. */
function clear<T extends DirectoryFactType>(part: DirectoryClear<T>): DirectoryClear<T> {
  return part;
}
