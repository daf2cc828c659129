import { auditBegin } from './audit/audit-begin-operation.js';
import { auditAccess, auditEvents } from './audit/audit-pages-operations.js';
import { auditChains, auditRecords } from './audit/audit-records-operation.js';
import { auditErasure, auditHistory, auditReplay, auditReplayQuery } from './audit/audit-token-operations.js';
import { bundleBegin, bundleEvents, bundleReads, bundleSign } from './audit/bundle-operations.js';
import { consoleSignIn } from './console/sign-in-operation.js';
import { diagnose } from './doctor/diagnose.js';
import {
  backupMac,
  checkKeys,
  checkLog,
  checkRows,
  confirmClock,
  rotateKeys,
  rotationState,
} from './maintenance/maintenance-operations.js';
import {
  projectionsCancel,
  projectionsPlan,
  projectionsRebuild,
  projectionsStatus,
} from './projections/projections-operations.js';
import { createApplication, listApplications } from './tenancy/applications-operations.js';
import { createTenant, init, listTenants } from './tenancy/tenants-operations.js';
import { exportTokens } from './tokens/export-operation.js';
import { importTokens } from './tokens/import-operation.js';
import { createToken, deleteToken, getToken, searchTokens } from './tokens/tokens-operations.js';
import { replayWebhook } from './webhooks/webhooks-operations.js';

/** The operations, keyed by the names that the control socket uses. */
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
  'audit-chains': auditChains,
  'audit-records': auditRecords,
  'bundle-begin': bundleBegin,
  'bundle-events': bundleEvents,
  'bundle-reads': bundleReads,
  'bundle-sign': bundleSign,
  'audit-history': auditHistory,
  'audit-erasure': auditErasure,
  'audit-replay': auditReplay,
  'audit-replay-query': auditReplayQuery,
  diagnose,
  'clock-confirm': confirmClock,
  'rows-check': checkRows,
  'keys-check': checkKeys,
  'log-check': checkLog,
  'backup-mac': backupMac,
  'keys-rotate': rotateKeys,
  'keys-rotation': rotationState,
  'webhooks-replay': replayWebhook,
  'console-sign-in': consoleSignIn,
} as const;

export type OperationName = keyof typeof operations;

/** The result types of the operations. */
export type Answers = { readonly [Name in OperationName]: Awaited<ReturnType<(typeof operations)[Name]['run']>> };
