import { join } from 'node:path';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { openCluster } from '#src/compose/cluster/open-cluster.js';
import { loadRootKey } from '#src/compose/root-key/root-key.js';
import type { AccessRule } from '#src/domain/access/access-rule.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import type { JsonObject } from '#src/domain/json.js';
import type { ApplicationSpec } from '#src/domain/tenancy/application-spec.js';
import { http, loggedAddress, makeRootKey, type Service, spawnService, tempDir, until } from '../../support/process.js';
import { rule } from '../../support/test-service.js';
import type { OwnServers } from './own-servers.js';

export const database = 'strongroom';

/** A process in the cluster profile that also has an admin listener. */
export type Member = Service & {
  readonly admin: string;
  /** Returns the health report of the admin listener. */
  health(): Promise<Health>;
};

export type Health = {
  readonly status: number;
  readonly reasons: readonly string[];
  readonly gaps: Readonly<Record<string, number | null>>;
  readonly stores: Readonly<Record<string, string>>;
};

export type StartOptions = {
  readonly env?: Readonly<Record<string, string>>;
};

export type OwnCluster = {
  readonly rootKeyFile: string;
  readonly tenantId: string;
  readonly managementKey: string;
  /** The key of a private application with the transform `reveal` for all tokens. */
  readonly key: string;
  /** The key of an application that sees all data in masked form. */
  readonly maskedKey: string;
  /** Starts `serve` in this role, and waits until the process is ready. */
  start(role: 'api' | 'worker' | 'all', options?: StartOptions): Promise<Member>;
};

/**
 * Creates a vault in the cluster profile on servers that belong to the test. The vault is created in the test's
 * process, because starting a separate process takes a long time.
 */
export async function ownCluster(servers: OwnServers): Promise<OwnCluster> {
  const dir = tempDir();
  const rootKeyFile = makeRootKey(dir);
  const env = {
    STRONGROOM_PROFILE: 'cluster',
    STRONGROOM_INSECURE_STORES: 'true',
    STRONGROOM_ROOT_KEY_FILE: rootKeyFile,
    STRONGROOM_EVENTSTORE_URL: servers.eventStore.url,
    STRONGROOM_MONGODB_URL: servers.mongoUrl,
    STRONGROOM_REDIS_URL: servers.redisUrl,
    STRONGROOM_MONGODB_DATABASE: database,
    // All callers in a test share one application, and send requests as fast as they can, so the rate limits are turned
    // off.
    STRONGROOM_RATE_LIMIT_REQUESTS: '0',
    STRONGROOM_ADMIN_PORT: '0',
  };
  const loaded = await loadRootKey({ file: rootKeyFile, dataDir: join(dir, 'none') });
  if (!loaded.ok) throw new Error(loaded.message);
  const mongodb = servers.mongoUrl;
  const service = await openCluster({
    urls: { eventstore: servers.eventStore.url, mongodb, keys: mongodb, redis: servers.redisUrl },
    database,
    rootKey: loaded.key,
    role: 'api',
    prepares: true,
    cvcRetentionMs: 3_600_000,
    onError: (error) => console.error(error),
  });
  const application = (transform: AccessRule['transform']): ApplicationSpec => ({
    name: transform,
    type: 'private',
    expiresAt: null,
    access: { kind: 'rules', rules: [rule('/', transform, tokenPermissions)] },
  });
  const made = await createTenant(service.vault, 'default', [application('reveal'), application('mask')]);
  await service.close();
  const [key = '', maskedKey = ''] = made.keys.map((made) => made.reveal());
  return {
    rootKeyFile,
    key,
    maskedKey,
    tenantId: made.tenantId,
    managementKey: made.managementKey.reveal(),
    start: (role, options = {}) => start(role, { ...env, ...options.env }),
  };
}

async function start(role: string, env: Readonly<Record<string, string>>): Promise<Member> {
  const service = await spawnService(['--role', role], { env }).ready();
  const admin = await loggedAddress(service, 'admin_address');
  return { ...service, admin, health: () => healthOf(admin) };
}

async function healthOf(admin: string): Promise<Health> {
  const { status, body } = await http('GET', `${admin}/health/ready`);
  const list = (name: string) => (body[name] ?? []) as readonly JsonObject[];
  return {
    status,
    reasons: (body['reasons'] ?? []) as string[],
    gaps: Object.fromEntries(list('projections').map(({ name, gap }) => [String(name), gap as number | null])),
    stores: Object.fromEntries(list('stores').map(({ name, state }) => [String(name), String(state)])),
  };
}

/** Waits until the rows have caught up with the head of the log. */
export async function caughtUp({ health }: Pick<Member, 'health'>): Promise<void> {
  let last: Health | null = null;
  const isThere = async () => {
    last = await health();
    return last.gaps['tokens'] === 0 ? true : undefined;
  };
  await until('the head of the log in the rows', 60_000, isThere).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(last)}`);
  });
}
