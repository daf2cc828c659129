import { z } from 'zod';
import { applicationTypes } from '../../domain/access/application-type.js';
import type { DirectoryEventType, RecordedEvent } from '../event.js';
import { readClear } from '../read-clear.js';

const application = { application_id: z.string() };
const key = { ...application, key_id: z.string(), key_hash: z.string() };
const changed = z.array(z.string());
const webhook = { webhook_id: z.string() };

/**
 * The schema of each event's plaintext part, in its newest version. Ids are random and reveal nothing, and each key
 * hash covers 256 random bits. Text that a person wrote appears only in the encrypted document. That document contains
 * the complete tenant or application as it is after the event.
 */
const schemas = {
  'tenant.created': z.object({}),
  'tenant.updated': z.object({ changed }),
  'tenant.deleted': z.object({}),
  'webhook.created': z.object(webhook),
  'webhook.updated': z.object({ ...webhook, changed }),
  'webhook.deleted': z.object(webhook),
  'application.created': z.object({ ...application, application_type: z.enum(applicationTypes) }),
  'application.updated': z.object({ ...application, changed }),
  'application.deleted': z.object(application),
  'application.key.issued': z.object(key),
  'application.key.revoked': z.object(key),
  /**
   * An event that changes nothing. It occupies the revision that an abandoned append would use for its event, so that
   * the append can no longer succeed.
   */
  'tenant.fenced': z.object({}),
} satisfies { readonly [T in DirectoryEventType]: z.ZodType };

/** The stored plaintext part of a directory event. */
export type DirectoryClear<T extends DirectoryEventType> = z.output<(typeof schemas)[T]>;

type DirectoryEvent = {
  [T in DirectoryEventType]: { readonly type: T; readonly clear: DirectoryClear<T> };
}[DirectoryEventType];

/** The types of all directory events. */
export const directoryEventTypes: readonly string[] = Object.keys(schemas);

/** The schema version of the directory events written by this program. */
export const directoryEventVersion = 1;

/**
 * Returns the type and plaintext part of a stored event, in the newest version. Throws UnreadableEvent if the event
 * cannot be read.
 */
export function readDirectoryEvent(event: RecordedEvent): DirectoryEvent {
  return { type: event.type, clear: readClear(event, schemas, directoryEventVersion) } as DirectoryEvent;
}
