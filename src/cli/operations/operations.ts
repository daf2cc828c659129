import { createApplication, listApplications } from './applications.js';
import { auditBegin } from './audit-begin.js';
import { auditErasure } from './audit-erasure.js';
import { auditAccess, auditEvents, auditHistory } from './audit-pages.js';
import { auditReplay, auditReplayQuery } from './audit-replay.js';
import { createTenant } from './create-tenant.js';
import { diagnose } from './diagnose.js';
import { exportTokens } from './export-tokens.js';
import { importTokens } from './import-tokens.js';
import { init } from './init.js';
import { listTenants } from './list-tenants.js';
import { backupMac, checkRows, confirmClock, rotateKeys, rotationState } from './maintenance.js';
import { projectionsCancel, projectionsPlan, projectionsRebuild, projectionsStatus } from './projections.js';
import { createToken, deleteToken, getToken, searchTokens } from './tokens.js';

/** By the name that the control socket knows each by. */
export const operations = {
  init,
  'tenants-create': createTenant,
  'tenants-list': listTenants,
  'applications-create': createApplication,
  'applications-list': listApplications,
  'tokens-get': getToken,
  'tokens-create': createToken,
  'tokens-delete': deleteToken,
  'tokens-search': searchTokens,
  'tokens-import': importTokens,
  'tokens-export': exportTokens,
  'projections-status': projectionsStatus,
  'projections-plan': projectionsPlan,
  'projections-rebuild': projectionsRebuild,
  'projections-cancel': projectionsCancel,
  'audit-begin': auditBegin,
  'audit-events': auditEvents,
  'audit-access': auditAccess,
  'audit-history': auditHistory,
  'audit-erasure': auditErasure,
  'audit-replay': auditReplay,
  'audit-replay-query': auditReplayQuery,
  diagnose,
  'clock-confirm': confirmClock,
  'rows-check': checkRows,
  'backup-mac': backupMac,
  'keys-rotate': rotateKeys,
  'keys-rotation': rotationState,
} as const;

export type OperationName = keyof typeof operations;

/** What each operation answers. */
export type Answers = { readonly [Name in OperationName]: Awaited<ReturnType<(typeof operations)[Name]['run']>> };
