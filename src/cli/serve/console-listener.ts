import type { FastifyInstance } from 'fastify';
import type { Config } from '../../compose/config/config.js';
import { ExposedSecret, readSecretFile } from '../../compose/files/secret-file.js';
import type { OperatedService } from '../../compose/vault/open-service.js';
import type { IdentityProvider } from '../../console/identity-provider.js';
import type { Logger } from '../../http/logging/logger.js';
import type { RequestLog } from '../../http/logging/request-log.js';
import { consoleOperations } from '../console/console-operations.js';
import { Failure } from '../failure.js';
import type { TlsFiles } from '../tls-files.js';
import { expectFreeAddress, listen } from './listen.js';

const settingsOfConsole = { host: 'console.host', port: 'console.port' } as const;

export type Console = {
  /**
   * The console's app, or null if the console is not running. The app's requests must finish before the service stops.
   */
  readonly app: FastifyInstance | null;
  /** The console's address, or null if the console is not running. */
  readonly address: string | null;
  /** Logs the console's address, or the reason why the console is not running. */
  report(logger: Logger): void;
};

/**
 * Returns true if this process serves the console. By default, only a process with `--dev` does. A worker never does.
 */
function servesConsole({ settings }: Config): boolean {
  return settings.role !== 'worker' && (settings['console.enabled'] ?? settings.dev);
}

/**
 * Throws Failure if the settings specify an address for the console and that address is in use. Call it before the
 * service creates anything.
 */
export async function expectFreeConsoleAddress(config: Config): Promise<void> {
  const { 'console.host': host, 'console.port': port } = config.settings;
  if (servesConsole(config) && isChosen(config)) await expectFreeAddress({ host, port }, settingsOfConsole);
}

/**
 * Starts the console's listener. If the settings mention the console and its address is in use, throws Failure. If the
 * settings do not mention the console and the default port is in use, the service runs without the console.
 */
export async function startConsole(
  service: OperatedService,
  config: Config,
  tls: TlsFiles | null,
  log: RequestLog,
): Promise<Console> {
  const { settings } = config;
  if (!servesConsole(config)) return { app: null, address: null, report: () => undefined };
  // We load this module on demand, because most services have no console.
  const { createConsole } = await import('../../console/console-app.js');
  const { 'console.host': host, 'console.port': port } = settings;
  const app = await createConsole(service, {
    allowedHosts: settings['console.allowed_hosts'],
    trustedProxies: settings['http.trusted_proxies'],
    behindTlsProxy: settings.behind_tls_proxy,
    tls,
    log,
    identity: await identityProviderOf(service, config),
    operations: consoleOperations(service),
  });
  try {
    const address = await listen(app, { host, port }, settingsOfConsole);
    return { app, address, report: (to) => to.info('the console is ready', { consoleAddress: address }) };
  } catch (error) {
    await app.close();
    if (!(error instanceof Failure) || isChosen(config)) throw error;
    return {
      app: null,
      address: null,
      report: (to) => to.warn('there is no console: its default port is in use; choose one with console.port'),
    };
  }
}

/**
 * Returns the configured identity provider, or null if none is configured. Throws Failure if the client secret cannot
 * be read.
 */
async function identityProviderOf({ vault }: OperatedService, { settings }: Config): Promise<IdentityProvider | null> {
  const {
    'console.oidc.issuer': issuer,
    'console.oidc.client_id': clientId,
    'console.oidc.client_secret_file': secretFile,
    'console.public_url': publicUrl,
  } = settings;
  if (issuer === null || clientId === null || secretFile === null || publicUrl === null) return null;
  // We load this module on demand, because most services have no identity provider.
  const { createOpenIdConnect } = await import('../../console/openid-connect.js');
  const provider = {
    issuer,
    clientId,
    clientSecret: readClientSecret(secretFile),
    publicUrl,
    scopes: settings['console.oidc.scopes'],
    groupsClaim: settings['console.oidc.groups_claim'],
    nameClaim: settings['console.oidc.name_claim'],
    rules: settings['console.oidc.groups'].map(({ group, tenant, private: ofPrivate, management, operator }) => ({
      group,
      tenantId: tenant ?? null,
      private: ofPrivate ?? null,
      management: management ?? null,
      isOperator: operator ?? false,
    })),
  };
  return createOpenIdConnect(provider, vault.clock);
}

function readClientSecret(file: string): string {
  let text: string;
  try {
    text = readSecretFile(file, 'the client secret').toString().trim();
  } catch (error) {
    if (error instanceof ExposedSecret) throw new Failure(error.message);
    throw new Failure(
      `the client secret ${file} cannot be read. Set console.oidc.client_secret_file to a file that this user ` +
        'may read.',
    );
  }
  if (text !== '') return text;
  throw new Failure(`the client secret ${file} is empty. Put the secret of console.oidc.client_id into it.`);
}

function isChosen({ sources }: Config): boolean {
  return (['console.enabled', 'console.host', 'console.port'] as const).some((path) => sources[path] !== 'default');
}
