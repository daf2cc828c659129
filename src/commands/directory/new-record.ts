import type { ApplicationDocument, TenantDocument } from '../../domain/directory/documents.js';
import { sealDocument } from '../../events/directory/document-box.js';
import { applicationStream, tenantStream } from '../../events/directory/streams.js';
import { noSealedParts } from '../../events/event.js';
import { sealTrace } from '../../events/sealing/trace-box.js';
import type { DirectoryRecord } from '../../ports/directory.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import type { StreamWrite } from '../../ports/unit-of-work.js';
import type { EventOrigin } from '../event-origin.js';
import type { Vault } from '../vault.js';

type NewDocument =
  | { readonly kind: 'tenant'; readonly id: string; readonly document: TenantDocument }
  | { readonly kind: 'application'; readonly id: string; readonly document: ApplicationDocument };

const directoryEventVersion = 1;

/** The first event of a tenant or an application, `tenant.created` or `application.created`, with its directory row. */
export function newRecord(
  { random }: Vault,
  tenantKeys: TenantKeys,
  tenantId: string,
  created: NewDocument,
  { actorId, at, traceId, cmd }: EventOrigin,
): StreamWrite {
  const { kind, id, document } = created;
  const stream = kind === 'tenant' ? tenantStream(id) : applicationStream(id);
  const place = { tenantId, stream, revision: 0 };
  const content = sealDocument(tenantKeys.directory, document, place);
  const event = {
    ...{ id: random.uuid(), type: `${kind}.created`, version: directoryEventVersion },
    ...{ tenantId, actorId, time: at, cmd },
    trace: traceId === null ? null : sealTrace(tenantKeys.audit, traceId, place),
    clear: {},
    sealed: { ...noSealedParts, content },
  };
  const record: DirectoryRecord = {
    ...{ kind, id, tenantId, stream, revision: 0, contentRevision: 0, content, removedAt: null },
    keyHashes: created.kind === 'application' ? created.document.keys.map(({ hash }) => hash) : [],
  };
  return { stream, expectedRevision: -1, events: [event], row: { of: 'directory', record }, distinct: null };
}
