import type { ServerResponse } from 'node:http';
import { constants } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { Server } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import type { FastifyInstance } from 'fastify';
import { recordForAllTenants } from '../../audit/access-log/record-for-all-tenants.js';
import type { Config } from '../../compose/config/config.js';
import { controlSocketPath } from '../../compose/embedded/control-socket.js';
import { dataDirectoryOf, openProfile } from '../../compose/open-profile.js';
import { holdsVault } from '../../compose/root-key/holds-vault.js';
import { spansOf } from '../../compose/spans-of.js';
import type { OpenService, OperatedService } from '../../compose/vault/open-service.js';
import { atMost } from '../../domain/at-most.js';
import { createLogger } from '../../http/logging/create-logger.js';
import type { Logger } from '../../http/logging/logger.js';
import { logUncaught } from '../../http/logging/logger.js';
import { createRequestLog } from '../../http/logging/request-log.js';
import { createApp } from '../../http/server/app.js';
import type { HeaderNames } from '../../http/service.js';
import type { Spans } from '../../ports/spans.js';
import { ForgedRow } from '../../vault/forged-row.js';
import type { LimitSettings } from '../../vault/limit-settings.js';
import type { Vault } from '../../vault/vault.js';
import { serveControl } from '../control/serve-control.js';
import { Failure } from '../failure.js';
import { forgedDirectoryText } from '../forged-row-text.js';
import { productVersion } from '../product-version.js';
import { expectSafeContainer, withRootKeys } from '../root-keys-of.js';
import { readTls } from '../tls-files.js';
import { type Admin, expectFreeAdminAddress, startAdmin } from './admin-listener.js';
import { type Console, expectFreeConsoleAddress, startConsole } from './console-listener.js';
import { consoleText, ensureDevRootKey, prepareQuickstart, quickstartText } from './dev-quickstart.js';
import { expectFreeAddress, listen } from './listen.js';
import { reloadTlsOnHangup, warnIfExpired } from './tls.js';

/** How long requests in progress may take to finish after the stop signal. */
const graceMs = 10_000;
/**
 * The time limit for the rest of the shutdown: writing the log, destroying the keys that recent events have marked for
 * destruction, and closing the stores. These steps normally take only moments, but a store that hangs must not block
 * the shutdown.
 */
const closingMs = 5_000;
const hangUpMs = 20;
const tenantsOpenedAtOnce = 16;
/**
 * V8 collects garbage when the heap has grown by this percentage of the live heap. On a machine with plenty of memory,
 * V8's default is several times as high, and the process would use much more memory (ADR 33).
 */
const garbagePercent = 50;

/**
 * Serves the vault until SIGTERM or SIGINT. If the service cannot start, throws Failure or an error from `openProfile`.
 */
export async function serve(config: Config): Promise<void> {
  const { settings } = config;
  setFlagsFromString(`--heap-growing-percent=${garbagePercent}`);
  const logger = createLogger({ level: settings.log_level, pretty: process.stdout.isTTY === true });
  logUncaught(logger);
  const stopping = stopOnSignal(logger);
  const reloading = reloadTlsOnHangup(config, logger);
  expectSafeContainer(config);
  const tls = readTls(config);
  if (tls !== null) warnIfExpired(tls, config, logger);
  const socketPath = socketPathOf(config);
  // A worker serves only the admin listener.
  const listens = settings.role !== 'worker';
  if (listens) await expectFreeAddress(settings);
  await expectFreeAdminAddress(config);
  await expectFreeConsoleAddress(config);
  if (settings.dev) ensureDevRootKey(config);
  const spans = await spansOf(config, productVersion(), (error) =>
    logger.error('traces were lost: the collector at tracing.endpoint did not accept them', { error }),
  );
  const opened = await open(config, logger, spans);
  stopping.opened();
  const service = {
    ...opened,
    async state() {
      const state = await opened.state();
      return stopping.isAsked() ? { ...state, reasons: [...state.reasons, 'the service is stopping'] } : state;
    },
  };
  const requestLog = createRequestLog(logger);
  const app = createApp(service, {
    headerNames: headerNamesOf(config),
    acceptsBearer: settings['auth.bearer'],
    corsOrigins: settings['http.cors_origins'],
    trustedProxies: settings['http.trusted_proxies'],
    behindTlsProxy: settings.behind_tls_proxy,
    tls,
    log: requestLog,
  });
  let admin: Admin | null = null;
  let people: Console | null = null;
  let control: { close(): Promise<void> } | null = null;
  try {
    await expectAuthenticTenants(service.vault);
    const quickstart = settings.dev ? await prepareQuickstart(service, settings.data) : null;
    const address = listens ? await listen(app, settings) : null;
    admin = await startAdmin(service, config);
    const { report, close: closeAdmin } = admin;
    people = await startConsole(service, config, tls, requestLog);
    const { app: consoleApp, address: consoleAddress, report: reportConsole } = people;
    const onCommandError = (error: unknown) => logger.error('a command failed', { error });
    const operated = { ...service, console: consoleApp === null ? 'off' : 'served' } as const;
    control = socketPath === null ? null : await serveControl(operated, socketPath, onCommandError);
    await recordForAllTenants(service.vault, 'start');
    service.start();
    const apps = consoleApp === null ? [app] : [app, consoleApp];
    reloading.serves(apps.flatMap(({ server }) => (server instanceof Server ? [server] : [])));
    if (quickstart !== null && address !== null) {
      process.stderr.write(quickstartText(config, address, quickstart));
      if (consoleAddress !== null) process.stderr.write(consoleText(consoleAddress));
    }
    sayReady(config, address);
    report(logger);
    reportConsole(logger);
    await stopping.started({
      async drain() {
        if (listens) await keepServing(app, settings['shutdown.delay_seconds'], logger);
      },
      async close() {
        await Promise.all([...apps.map((one) => finishRequests(one, logger)), control?.close()]);
        await closeAdmin();
        // An entry that cannot be recorded must not prevent the stores from being closed.
        await recordForAllTenants(service.vault, 'stop').catch((error: unknown) =>
          logger.error('the stop could not be recorded', { error }),
        );
        await service.close();
        await spans?.close();
      },
    });
  } catch (error) {
    const closeAll = async () => {
      await Promise.allSettled([app.close(), people?.app?.close(), admin?.close(), control?.close()]);
      await service.close();
    };
    // The error of the start matters more than an error while closing, and closing must not delay the exit.
    await Promise.race([closeAll().catch(() => undefined), wait(closingMs, undefined, { ref: false })]);
    throw error instanceof ForgedRow ? new Failure(forgedDirectoryText(error, storeOfRows(config))) : error;
  }
}

/**
 * Throws if the row of a tenant is not authentic, or if a tenant's keys do not open. While the service runs, such damage
 * concerns only that tenant. But if it exists at the start, the operator must find out who changed the stores before the
 * service uses them.
 */
async function expectAuthenticTenants({ directory, keys }: Pick<Vault, 'directory' | 'keys'>): Promise<void> {
  const living = (await directory.list('tenant')).filter(({ removedAt }) => removedAt === null);
  // Opening a tenant's keys writes to the key store.
  await atMost(tenantsOpenedAtOnce, living, async ({ id }) => keys.tenantKeys(id));
}

function storeOfRows({ settings: { profile } }: Config): string {
  return profile === 'embedded' ? 'vault.db' : 'MongoDB';
}

/**
 * Prints the line that announces readiness, regardless of the log level. Prints text if standard output is a terminal,
 * and JSON if it is not.
 */
function sayReady({ settings: { profile, role } }: Config, address: string | null): void {
  const message = address === null ? 'Strongroom works in the background' : `Strongroom listens on ${address}`;
  if (process.stdout.isTTY === true) {
    process.stdout.write(`${message}\n`);
    return;
  }
  const fields = { version: productVersion(), profile, role };
  createLogger({ level: 'info', pretty: false }).info(message, address === null ? fields : { ...fields, address });
}

/**
 * Returns the path of the socket on which this process accepts CLI commands. Returns null in the cluster profile, where
 * commands open the stores directly.
 */
function socketPathOf(config: Config): string | null {
  const dataDir = dataDirectoryOf(config);
  const socketPath = dataDir === null ? null : controlSocketPath(dataDir);
  if (dataDir !== null && socketPath === null) {
    throw new Failure(`the path of ${dataDir} is too long for its control socket. Choose a shorter one with --data.`);
  }
  return socketPath;
}

async function open(config: Config, logger: Logger, spans: Spans | null): Promise<OpenService & OperatedService> {
  return withRootKeys(config, 'opening', async (rootKeys) => {
    const newIn = newDataDirectoryOf(config);
    const service = await openProfile(config, {
      rootKeys,
      limits: limitsOf(config),
      prepares: false,
      isCommand: false,
      spans,
      onError: (error) => logger.error('background work failed and will be retried', { error }),
      onNotice: (text) => logger.warn(text),
      onBroken: (error) => {
        process.stderr.write(`${error.message}\n`);
        process.exit(1);
      },
    });
    if (newIn !== null) {
      logger.warn(
        `created a new, empty vault in ${newIn}. If your data should be there, stop the service and check that --data ` +
          'is right and that its volume is mounted.',
      );
    }
    return service;
  });
}

/**
 * Returns the data directory if it contains no vault yet. Returns null if it does, in the cluster profile, and with
 * `--dev`, which prints what it has created.
 */
function newDataDirectoryOf(config: Config): string | null {
  const dataDir = dataDirectoryOf(config);
  return dataDir === null || config.settings.dev || holdsVault(dataDir) ? null : dataDir;
}

/**
 * Keeps accepting requests during the delay. Meanwhile, the readiness route returns 503, so that a load balancer stops
 * sending requests before the listener closes. In addition, each response tells the client to close the connection.
 * Otherwise, a request could arrive on a connection that is being closed.
 */
async function keepServing(app: FastifyInstance, delaySeconds: number, logger: Logger): Promise<void> {
  logger.info('stopping: no longer ready, requests are still accepted', { delaySeconds });
  app.server.prependListener('request', (_request: unknown, response: ServerResponse) => {
    response.setHeader('connection', 'close');
  });
  await wait(delaySeconds * 1_000);
  logger.info('closing the listener; finishing the requests in flight');
}

/**
 * Stops listening, and waits for requests in progress for at most `graceMs`. Does not wait for idle connections.
 * Threat: a client could block the shutdown by never finishing its request. The vault would then never record that it
 * was stopped.
 */
async function finishRequests(app: FastifyInstance, logger: Logger): Promise<void> {
  const hangUp = setInterval(() => app.server.closeIdleConnections(), hangUpMs);
  const cutOff = setTimeout(() => {
    logger.error('requests were still running after the grace period and were cut off');
    app.server.closeAllConnections();
  }, graceMs);
  await app.close();
  clearInterval(hangUp);
  clearTimeout(cutOff);
}

type StopSteps = Readonly<Record<'drain' | 'close', () => Promise<void>>>;

/**
 * Stops the service on the first signal and ignores later signals. Exits with status 0 when the stores are closed. If
 * the signal comes after `opened` but before `started`, the service stops when the start is complete.
 *
 * Before `opened`, a signal ends the process immediately: there is no request to finish, and what was written is
 * durable.
 */
function stopOnSignal(logger: Logger) {
  let isOpen = false;
  let isAsked = false;
  let steps: StopSteps | null = null;
  let late: NodeJS.Timeout | undefined;

  function limitTime(): void {
    clearTimeout(late);
    late = setTimeout(() => {
      logger.error('the stores could not be closed in time');
      process.exit(1);
    }, graceMs + closingMs);
  }

  async function finish({ drain, close }: StopSteps): Promise<void> {
    clearTimeout(late);
    await drain();
    limitTime();
    await close();
    clearTimeout(late);
    logger.info('stopped');
    process.exit(0);
  }

  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (!isOpen) endBy(signal);
    if (isAsked) return;
    isAsked = true;
    if (steps !== null) return finish(steps);
    // A store that hangs during the start must not block the shutdown.
    limitTime();
  }

  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return {
    isAsked: () => isAsked,
    /** Says that the stores are open. */
    opened(): void {
      isOpen = true;
    },
    /** Says that the start is complete, and how to stop the service. */
    async started(stopSteps: StopSteps): Promise<void> {
      steps = stopSteps;
      if (isAsked) await finish(stopSteps);
    },
  };
}

/**
 * Ends this process by a signal. In a container, the process often has the process id 1. The kernel then ignores a
 * signal that has no handler, so the process exits with the status that a shell reports for the signal.
 */
function endBy(signal: NodeJS.Signals): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(128 + constants.signals[signal]);
}

function headerNamesOf({ settings }: Config): HeaderNames {
  return {
    apiKey: ['service-api-key', ...settings['auth.header_aliases']],
    traceId: ['service-trace-id', ...settings['http.trace_header_aliases']],
    idempotencyKey: ['service-idempotency-key', 'idempotency-key', ...settings['http.idempotency_header_aliases']],
  };
}

function limitsOf({ settings }: Config): LimitSettings {
  return {
    requests: settings['rate_limit.requests'],
    windowMs: settings['rate_limit.window_seconds'] * 1_000,
    authFailures: settings['rate_limit.auth_failures'],
    keylessRequests: settings['rate_limit.keyless_requests'],
    guesses: settings['rate_limit.guesses'],
    deduplicationMisses: settings['rate_limit.deduplication_misses'],
  };
}
