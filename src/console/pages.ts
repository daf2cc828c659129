import type { ConsolePage } from './page.js';
import { accessLogPage } from './pages/access-log.js';
import { applicationEditorPage } from './pages/application-editor.js';
import { applicationsPage } from './pages/applications.js';
import { checksPage } from './pages/checks.js';
import { evidencePage, verificationPage } from './pages/evidence.js';
import { newTokenPage } from './pages/new-token.js';
import { operationsPage } from './pages/operations.js';
import { overviewPage } from './pages/overview.js';
import { sessionPage } from './pages/session.js';
import { signInPage } from './pages/sign-in.js';
import { tenantPage } from './pages/tenant.js';
import { themePage } from './pages/theme.js';
import { tokenPage } from './pages/token.js';
import { tokenEditPage } from './pages/token-edit.js';
import { tokenPastPage } from './pages/token-past.js';
import { tokensPage } from './pages/tokens.js';
import { webhooksPage } from './pages/webhooks.js';

/** All pages, in navigation order. */
export const pages: readonly ConsolePage[] = [
  overviewPage,
  tokensPage,
  tokenPage,
  tokenPastPage,
  tokenEditPage,
  newTokenPage,
  applicationsPage,
  applicationEditorPage,
  accessLogPage,
  evidencePage,
  verificationPage,
  webhooksPage,
  operationsPage,
  checksPage,
  tenantPage,
  sessionPage,
  signInPage,
  themePage,
];
