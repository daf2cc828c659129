import type { ConsolePage } from './page.js';
import { applicationEditorPage } from './pages/application-editor.js';
import { applicationsPage } from './pages/applications.js';
import { overviewPage } from './pages/overview.js';
import { sessionPage } from './pages/session.js';
import { signInPage } from './pages/sign-in.js';
import { tenantPage } from './pages/tenant.js';
import { themePage } from './pages/theme.js';
import { tokensPage } from './pages/tokens.js';
import { webhooksPage } from './pages/webhooks.js';

/** All pages, in the order of the navigation. */
export const pages: readonly ConsolePage[] = [
  overviewPage,
  tokensPage,
  applicationsPage,
  applicationEditorPage,
  webhooksPage,
  tenantPage,
  sessionPage,
  signInPage,
  themePage,
];
