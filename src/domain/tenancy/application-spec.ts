import type { ApplicationType } from '../access/application-type.js';
import type { AccessDocument } from './documents.js';

/** An application to create. */
export type ApplicationSpec = {
  readonly name: string;
  readonly type: ApplicationType;
  readonly access: AccessDocument;
  /**
   * The time at which the application expires, in milliseconds since the epoch. Null means that the application never
   * expires.
   */
  readonly expiresAt: number | null;
};
