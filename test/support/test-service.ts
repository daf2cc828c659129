import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApplication } from '#src/commands/tenancy/applications.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { type EmbeddedOptions, openEmbedded } from '#src/compose/embedded/embedded.js';
import type { AccessRule } from '#src/domain/access/access-rule.js';
import type { ApplicationType } from '#src/domain/access/application-type.js';
import { type Permission, tokenPermissions } from '#src/domain/access/permission.js';
import type { JsonObject } from '#src/domain/json.js';
import type { RequestLog } from '#src/http/logging/request-log.js';
import { createApp } from '#src/http/server/app.js';
import type { TraceUseLimits } from '#src/keys/trace-uses.js';
import type { Anchor } from '#src/ports/anchor.js';
import type { WebhookSender } from '#src/ports/webhook-sender.js';
import type { LimitSettings } from '#src/vault/limit-settings.js';
import { openClusterService } from './cluster-service.js';
import { type ManualClock, manualClock } from './manual-clock.js';
import { type OpenApiChecker, openApiChecker } from './openapi-checker.js';
import { profile } from './profile.js';

export type TestService = Awaited<ReturnType<typeof startTestService>>;

const headerNames = {
  apiKey: ['service-api-key'],
  traceId: ['service-trace-id'],
  idempotencyKey: ['service-idempotency-key', 'idempotency-key'],
};
/**
 * The response checkers, keyed by `acceptsBearer`. No other option of a service changes its OpenAPI document. Building
 * a checker takes longer than anything else that this thread does to start a service.
 */
const checkers = new Map<boolean, OpenApiChecker>();
const silent: RequestLog = { request: () => undefined, error: () => undefined };

type CallOptions = {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of the request, which is sent unchanged. If it is absent, `body` is sent as JSON. */
  readonly raw?: string | Buffer;
  /** The source address of the request. */
  readonly address?: string;
};

type TestServiceOptions = {
  readonly dataDir?: string;
  /** The service's clock. A test can pass the clock of an earlier service, so that time continues from there. */
  readonly clock?: ManualClock;
  /** If true, opens the vault even if the log is behind its keys. */
  readonly acceptsOlderLog?: boolean;
  /** The limits on the use of trace keys. A trace key is replaced when it reaches a limit. */
  readonly traceLimits?: TraceUseLimits;
  readonly rootKey?: Buffer;
  /** The limits on requests and guesses. By default, there are no limits. */
  readonly limits?: LimitSettings;
  readonly trustedProxies?: readonly string[];
  /** If true, the service also accepts an API key as `Authorization: Bearer`. */
  readonly acceptsBearer?: boolean;
  /** If true, the service accepts only requests that a trusted proxy received over TLS. */
  readonly behindTlsProxy?: boolean;
  /** How long the vault retains the old rows after a rebuild, in ms. The default is 0. */
  readonly keptMs?: number;
  /** The anchor that receives signed checkpoints. By default, checkpoints are not delivered. */
  readonly anchor?: Anchor;
  /** The sender of webhooks. By default, the service sends webhooks only to public addresses. */
  readonly webhookSender?: WebhookSender;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly text: string;
  readonly body: JsonObject;
};

/**
 * Starts the real service in the profile under test (`profile.ts`), with a clock that the test controls. Neither the
 * sweep nor the checkpointer runs by itself. To run them, call `service.sweep.run()` or `service.checkpointer.run()`.
 * In the embedded profile, the SQLite files are in a new folder. `key` belongs to a private application with the
 * transform `reveal` for all tokens. `call` throws if the OpenAPI document does not describe the response.
 */
export async function startTestService(options: TestServiceOptions = {}) {
  const rootKey = options.rootKey ?? randomBytes(32);
  const clock = options.clock ?? manualClock();
  const errors: unknown[] = [];
  const {
    limits,
    trustedProxies = [],
    behindTlsProxy = false,
    acceptsBearer = false,
    keptMs = 0,
    anchor = null,
    acceptsOlderLog = false,
  } = options;
  const notices: string[] = [];
  const shared = {
    ...(limits === undefined ? {} : { limits }),
    ...(options.webhookSender === undefined ? {} : { webhookSender: options.webhookSender }),
    ...(options.traceLimits === undefined ? {} : { traceLimits: options.traceLimits }),
    rootKey,
    clock,
    anchor,
    cvcRetentionMs: 3_600_000,
    onError: (error: unknown) => void errors.push(error),
    keptMs,
    acceptsOlderLog,
    onNotice: (text: string) => void notices.push(text),
  };
  const { service, dataDir, database, remove } = await (profile === 'cluster'
    ? openClusterService(shared)
    : openEmbeddedService(shared, options.dataDir));
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const tenant = await createTenant(service.vault, 'test', [{ name: 'all', type: 'private', access, expiresAt: null }]);
  const app = createApp(service, {
    headerNames,
    acceptsBearer,
    corsOrigins: [],
    trustedProxies,
    behindTlsProxy,
    tls: null,
    log: silent,
  });
  await app.ready();
  const check = checkers.get(acceptsBearer) ?? openApiChecker(app);
  checkers.set(acceptsBearer, check);
  const [revealing] = tenant.keys;
  if (revealing === undefined) throw new Error('the tenant has no private application');
  const key = revealing.reveal();

  async function call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT' | 'HEAD' | 'OPTIONS',
    url: string,
    body?: unknown,
    { key: as, headers, raw, address }: CallOptions = {},
  ): Promise<Answer> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const mediaType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await app.inject({
      method,
      url,
      ...(payload === undefined ? {} : { payload }),
      ...(address === undefined ? {} : { remoteAddress: address }),
      headers: {
        ...(as === null ? {} : { 'service-api-key': as ?? key }),
        ...(payload === undefined ? {} : { 'content-type': mediaType }),
        ...headers,
      },
    });
    const text = response.body;
    const isJson = String(response.headers['content-type'] ?? '').includes('json') && text !== '';
    const { statusCode: status } = response;
    const answer: Answer = { status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
    const undescribed = check(method, url, answer);
    if (undescribed.length > 0) throw new Error(`${method} ${url} ${status}: ${undescribed.join('; ')}\n${text}`);
    return answer;
  }

  return {
    dataDir,
    /** The name of the MongoDB database, or null in the embedded profile. */
    database,
    rootKey,
    clock,
    service,
    vault: service.vault,
    app,
    key,
    errors,
    notices,
    call,
    tenantId: tenant.tenantId,
    managementKey: tenant.managementKey.reveal(),
    /** Creates an application with these permissions or rules in the tenant, and returns its key. */
    async application(
      access: readonly Permission[] | readonly AccessRule[],
      type: ApplicationType = 'private',
    ): Promise<string> {
      const spec = { name: 'another', type, access: accessOf(access), expiresAt: null };
      const context = { tenantId: tenant.tenantId, actor: { kind: 'operator' }, traceId: null } as const;
      const created = await createApplication(service.vault, context, spec);
      if (!created.ok || created.value.key === null) throw new Error('the operator may make an application');
      return created.value.key.reveal();
    },
    /** Creates a second tenant. Returns the key of an application that can reveal all of that tenant's tokens. */
    async otherTenant(): Promise<string> {
      const other = await createTenant(service.vault, 'other', [
        { name: 'all', type: 'private', access, expiresAt: null },
      ]);
      return other.keys[0]?.reveal() ?? '';
    },
    /** Creates a second tenant, and returns its management key. */
    async otherManagement(): Promise<string> {
      return (await createTenant(service.vault, 'other', [])).managementKey.reveal();
    },
    /** Returns the number of events in the log. If two results are equal, nothing was stored between them. */
    async eventCount(): Promise<number> {
      return (await service.vault.log.readAll(0, 1_000_000)).length;
    },
    /** Stops the service, and leaves its folder in place. */
    async stop(): Promise<void> {
      await app.close();
      await service.close();
    },
    async close(): Promise<void> {
      await app.close();
      await service.close();
      await remove();
    },
  };
}

async function openEmbeddedService(shared: Omit<EmbeddedOptions, 'dataDir' | 'mode' | 'onBroken'>, folder?: string) {
  const dataDir = folder ?? (await mkdtemp(join(tmpdir(), 'strongroom-test-')));
  const service = await openEmbedded({ ...shared, dataDir, mode: 'any', onBroken: shared.onError });
  return { service, dataDir, database: null, remove: () => rm(dataDir, { recursive: true, force: true }) };
}

/** Returns an access rule. Rules are tried in ascending order of their priority. */
export function rule(
  container: string,
  transform: AccessRule['transform'],
  permissions: AccessRule['permissions'],
  priority = 1,
): AccessRule {
  return { description: '', priority, container, transform, permissions };
}

function accessOf(access: readonly Permission[] | readonly AccessRule[]) {
  const rules = access.filter((item) => typeof item === 'object');
  if (rules.length > 0) return { kind: 'rules', rules } as const;
  return { kind: 'permissions', permissions: access.filter((item) => typeof item === 'string') } as const;
}
