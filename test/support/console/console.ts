import { onTestFinished } from 'vitest';
import { consoleOperations } from '#src/cli/console/console-operations.js';
import { createKeyRotationWork } from '#src/compose/vault/key-rotation-work.js';
import { createConsole } from '#src/console/console-app.js';
import type { IdentityProvider } from '#src/console/identity-provider.js';
import type { Operations } from '#src/console/operations.js';
import { issueOperatorCode } from '#src/console/sessions.js';
import type { RequestLog } from '#src/http/logging/request-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import type { Vault } from '#src/vault/vault.js';
import { startTestService, type TestService } from '../test-service.js';
import { createBrowser, type TestBrowser, toApp } from './browser.js';

export type TestConsole = Awaited<ReturnType<typeof startTestConsole>>;

export type Credentials = {
  readonly name?: string;
  readonly privateKey?: string;
  readonly managementKey?: string;
  /** If true, also signs in as an operator. */
  readonly isOperator?: boolean;
};

type LogLine = Parameters<RequestLog['request']>[0];

/**
 * Starts the console for a test service in the profile under test. Both are closed when the test ends. Each call to
 * `signIn` returns a separate browser. `lines` contains the lines of the request log.
 */
export async function startTestConsole(
  options: Parameters<typeof startTestService>[0] & {
    /**
     * Returns the identity provider that the console uses. Without this function, the console has no identity provider.
     */
    readonly identityOf?: (service: TestService) => IdentityProvider | Promise<IdentityProvider>;
    /** Operations that replace those of the service. */
    readonly operations?: Partial<Operations>;
    /** If true, the console's stores have lost their leader, so no read can be confirmed to be current. */
    readonly readsStaleData?: () => boolean;
  } = {},
) {
  const { identityOf = null, operations = {}, readsStaleData = () => false, ...serviceOptions } = options;
  const service = await startTestService(serviceOptions);
  const lines: LogLine[] = [];
  const failures: unknown[] = [];
  // The root key of a test service is not stored in a file. A rotation therefore fails as if the root key's file were
  // missing.
  const place = { named: null, file: null, command: null, nextFile: null, dataDir: service.dataDir, isDev: true };
  const rotation = createKeyRotationWork(service.vault.keys.rotation, place, true, async () => undefined);
  const operated = { ...service.service, rotation, console: 'served' } as const;
  const vault: Vault = {
    ...service.vault,
    async confirmReads(since, hasWritten) {
      if (readsStaleData()) throw new StoreUnavailable('mongodb', 'primary_changed');
      await service.vault.confirmReads(since, hasWritten);
    },
  };
  const app = await createConsole(
    { ...service.service, vault },
    {
      allowedHosts: ['console.example'],
      trustedProxies: serviceOptions.trustedProxies ?? [],
      behindTlsProxy: serviceOptions.behindTlsProxy ?? false,
      tls: null,
      log: { request: (line) => void lines.push(line), error: (error) => void failures.push(error) },
      identity: identityOf === null ? null : await identityOf(service),
      operations: { ...consoleOperations(operated), ...operations },
    },
  );
  await app.ready();
  onTestFinished(async () => {
    await app.close();
    await service.close();
  });

  /**
   * Signs a person in. If `credentials` contains no key, uses the private key and the management key of the test
   * service.
   */
  async function signIn(credentials: Credentials = {}): Promise<TestBrowser> {
    const { name = 'Ada Lovelace', isOperator = false } = credentials;
    const isDefault = credentials.privateKey === undefined && credentials.managementKey === undefined;
    const browser = createBrowser(toApp(app));
    await browser.get('/sign-in');
    const answer = await browser.post('/sign-in', {
      name,
      private_key: credentials.privateKey ?? (isDefault ? service.key : ''),
      management_key: credentials.managementKey ?? (isDefault ? service.managementKey : ''),
      operator_code: isOperator ? await issueOperatorCode(service.vault) : '',
    });
    if (answer.status !== 303) throw new Error(`the sign-in ended with ${answer.status}: ${answer.text}`);
    return browser;
  }

  return {
    service,
    app,
    lines,
    failures,
    signIn,
    /** Returns a browser that is not signed in. */
    browser: () => createBrowser(toApp(app)),
    /** Makes the console listen, and returns its address, for tests with a real browser. Port 0 selects a free port. */
    async listen(port = 0): Promise<string> {
      return app.listen({ host: '127.0.0.1', port });
    },
  };
}
