import type { ApplicationType } from '../access/application-type.js';
import type { AccessDocument } from './documents.js';

/** An application to create. */
export type ApplicationSpec = {
  readonly name: string;
  readonly type: ApplicationType;
  readonly access: AccessDocument;
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
};
