import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { onceAMinute } from '../../adapters/shared/once-a-minute.js';
import { createAccessRecorder } from '../../audit/access-log/access-recorder.js';
import { recordExhaustedBudget, recordSuspect } from '../../audit/access-log/record-guessing.js';
import { recordedWork } from '../../audit/access-log/recorded-work.js';
import { createExpressions } from '../../domain/expressions/expressions.js';
import { createStreamQueue } from '../../domain/stream-queue.js';
import { keysOf } from '../../domain/token/token-state.js';
import { isTokenStream } from '../../events/tokens/stream-name.js';
import { createLimits } from '../../http/limits/limits.js';
import type { Service } from '../../http/service.js';
import type { Claims } from '../../ports/claims.js';
import type { ConsoleSessions } from '../../ports/console-sessions.js';
import type { Directory } from '../../ports/directory.js';
import { ForgedLog } from '../../ports/event-log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Random } from '../../ports/random.js';
import type { RateLimits } from '../../ports/rate-limits.js';
import type { Spans } from '../../ports/spans.js';
import { filesCheck, StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { TokenRows } from '../../ports/token-rows.js';
import type { WebhookStore } from '../../ports/webhook-store.js';
import { healDirectory } from '../../projections/project-directory.js';
import { createVocabularies } from '../../search/vocabulary/vocabularies.js';
import { authenticClaims } from '../../vault/authentic-claims.js';
import { authenticConsoleSessions } from '../../vault/authentic-console-sessions.js';
import { authenticDirectory } from '../../vault/authentic-directory.js';
import { authenticTokenRows } from '../../vault/authentic-token-rows.js';
import { authenticWebhookStore } from '../../vault/authentic-webhook-store.js';
import { createAuthenticate } from '../../vault/authenticate.js';
import { ForgedRow, type RowName } from '../../vault/forged-row.js';
import { createGuesses } from '../../vault/guesses.js';
import { KeyLost, type LostKey } from '../../vault/key-lost.js';
import type { KnownCallers } from '../../vault/known-callers.js';
import type { LimitSettings } from '../../vault/limit-settings.js';
import { loadToken } from '../../vault/load-token.js';
import type { RowCache } from '../../vault/row-cache.js';
import { indexKeysOf, searchTermKeyOf } from '../../vault/tenant-keys.js';
import { createTurns } from '../../vault/turns.js';
import { createUnfinishedErasures } from '../../vault/unfinished-erasures.js';
import type { AccessRecorder, Vault } from '../../vault/vault.js';
import { countedKeyRing, countedSender } from './counted.js';

/** The stores provided by a profile. */
export type Stores = Pick<
  Vault,
  | 'log'
  | 'storedLog'
  | 'chain'
  | 'erasureProbe'
  | 'searchIndex'
  | 'generations'
  | 'work'
  | 'keys'
  | 'budgets'
  | 'accessLog'
  | 'dailyCounts'
> & {
  readonly rows: TokenRows;
  readonly claims: Claims;
  readonly directory: Directory;
  readonly webhookStore: WebhookStore;
  readonly consoleSessions: ConsoleSessions;
};

/** The parts provided by a profile in addition to its stores. */
export type Parts = Pick<
  Vault,
  'integrity' | 'clock' | 'random' | 'timers' | 'confirmReads' | 'cvcRetentionMs' | 'webhookSender'
> & {
  readonly metrics: Metrics;
  readonly rateLimits: RateLimits;
  readonly limits: LimitSettings;
  readonly knownCallers: KnownCallers;
  /**
   * The cache for rows. Null if other processes can change the rows too, because a cache would not notice their
   * changes.
   */
  readonly rowCache: RowCache | null;
  readonly spans: Spans | null;
  /** The names that spans use for the stores. */
  readonly systems: { readonly log: string; readonly rows: string };
  readonly onError: OnError;
  /** Called instead if background work fails because a store is unavailable. Default: `onError`. */
  readonly onOutage?: OnError;
};

type OnError = (error: unknown) => void;

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  integer: (maxExclusive) => randomInt(maxExclusive),
  bytes: (length) => randomBytes(length),
};

type ComposedVault = {
  readonly vault: Vault;
  readonly recorder: AccessRecorder;
  /** All parts of the service except its state and projections. */
  readonly service: Omit<Service, 'state' | 'projections'>;
  /**
   * Returns the damage that requests and background work have found in the stores. The service is not ready while this
   * list contains entries.
   */
  readonly damage: () => readonly string[];
  /** Removes the forged rows and lost keys that were repaired since they were found from what `damage` returns. */
  readonly forgetRepaired: () => Promise<void>;
  /** Called for every failure that was not caused by a request. Counts it, remembers damage, and logs the error. */
  readonly onBackgroundError: OnError;
  /**
   * Returns a function like `onBackgroundError` for work that runs every few seconds or more often. If the work keeps
   * failing, for example because the log is forged, every failure counts, but the log gets only one line per minute.
   */
  readonly onFrequentError: () => OnError;
};

/** The maximum number of forged rows, and of streams whose keys are lost, that are remembered. `doctor` finds all. */
const namedMax = 10;
/** The maximum number of damaged rows and keys that are logged. */
const loggedMax = 1_000;

/** How often `forgetRepaired` reads the forged rows again, in ms. Anyone can ask whether the service is ready. */
const repairedMs = 1_000;

/** A forged row that a request or background work has found. */
type Forged = {
  readonly row: RowName;
  readonly message: string;
  /** The generation that token rows were read from, or null if it is not known yet. */
  generation: number | null;
};

/** Composes the vault from the stores of one profile. All commands use the result. */
export function composeVault(bare: Stores, given: Parts): ComposedVault {
  const { integrity, metrics, rateLimits, limits, onError, onOutage, spans, systems, rowCache, ...parts } = given;
  const {
    log,
    storedLog,
    chain,
    erasureProbe,
    searchIndex,
    generations,
    budgets,
    accessLog,
    dailyCounts,
    webhookStore,
    ...stores
  } = spans === null ? bare : tracedStores(bare, spans, systems);
  const keys = countedKeyRing(stores.keys, metrics);
  const recorder = createAccessRecorder(accessLog, onError);
  const authenticRows = authenticTokenRows(stores.rows, integrity.rows);
  const rows = rowCache?.rows(authenticRows) ?? authenticRows;
  // A commit passes through the row cache (below), `recordedWork` and `tracedStores`, and then through what the profile
  // provides: in the embedded profile, `diskReserve`, `authenticStores` and the unit of work of SQLite.
  const work = recordedWork(stores.work, keys, recorder);
  const directory = authenticDirectory({
    directory: stores.directory,
    keys,
    key: integrity.rows,
    heal: (tenantId) => healDirectory({ log, keys, work: stores.work }, tenantId),
  });
  const damage = createDamage(generations, metrics, onError);
  const vault: Vault = {
    log,
    storedLog,
    chain,
    rows,
    erasureProbe,
    searchIndex,
    generations,
    keys,
    budgets,
    directory,
    accessLog,
    recorder,
    dailyCounts,
    webhookStore: authenticWebhookStore(webhookStore, integrity.rows),
    consoleSessions: authenticConsoleSessions(stores.consoleSessions, integrity.console, parts.random),
    claims: authenticClaims(stores.claims, integrity.rows),
    integrity,
    ...parts,
    webhookSender: countedSender(parts.webhookSender, metrics),
    work: rowCache?.work(work) ?? work,
    expressions: createExpressions(),
    streams: createStreamQueue(),
    turns: createTurns(),
    reportDamage: damage.reportOnce,
    unfinishedErasures: createUnfinishedErasures(),
    vocabularies: createVocabularies(),
    guesses: createGuesses({
      budgets,
      settings: limits,
      clock: parts.clock,
      metrics,
      records: {
        exhausted: (caller, budget) => recordExhaustedBudget(vault, caller, budget),
        suspected: (caller) => recordSuspect(vault, caller),
      },
    }),
  };
  function failing(log: OnError): OnError {
    return (error) => {
      damage.report(error);
      metrics.backgroundWorkFailed();
      if (error instanceof StoreUnavailable && onOutage !== undefined) onOutage(error);
      else log(error);
    };
  }
  return {
    vault,
    recorder,
    damage: damage.list,
    forgetRepaired: () => damage.forgetRepaired(vault),
    service: {
      vault,
      metrics,
      spans,
      reportError: damage.report,
      ...createAuthenticate(vault),
      limits: createLimits(rateLimits, limits, metrics),
    },
    onBackgroundError: failing(onError),
    onFrequentError: () => failing(onceAMinute(onError)),
  };
}

type RepairDeps = Pick<Vault, 'directory' | 'claims' | 'generations' | 'keys' | 'log'>;

/** Remembers the damage in the stores that requests and background work report. `onError` logs an error. */
function createDamage(
  generations: Vault['generations'],
  metrics: Pick<Metrics, 'forgedRowFound'>,
  onError: (error: unknown) => void,
) {
  /** The streams whose keys are lost, and what is lost of each. Not all of them, because there can be many. */
  const lost = new Map<string, LostKey>();
  const forged = new Map<string, Forged>();
  /** The messages about damaged files. There are only a few files, so the set stays small. */
  const damagedFiles = new Set<string>();
  const logged = new Set<string>();
  let forgedLog: string | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function addForged({ row, message }: ForgedRow): void {
    metrics.forgedRowFound();
    const name = `${row.of} ${row.name}`;
    if (forged.size >= namedMax && !forged.has(name)) return;
    const found: Forged = { row, message, generation: null };
    forged.set(name, found);
    const noted = generations.inUse().then(({ read }) => {
      found.generation = read;
    });
    // Without the generation, the row counts as forged until the next start.
    noted.catch(() => undefined);
  }

  /** Remembers the damage if the error reports any. */
  function report(error: unknown): void {
    if (error instanceof KeyLost && lost.size < namedMax) lost.set(error.stream, error.what);
    if (error instanceof ForgedLog) forgedLog ??= error.what;
    if (error instanceof StoreProblem && error.found?.check === filesCheck) damagedFiles.add(error.message);
    if (error instanceof ForgedRow) addForged(error);
  }

  return {
    report,
    /** Like `report`, but also logs the error, unless it was logged before. */
    reportOnce(error: unknown): void {
      const text = String(error);
      // Threat: an attacker fills the service's log by sending requests with guessed keys.
      if (!logged.has(text) && logged.size < loggedMax) {
        logged.add(text);
        onError(error);
      }
      report(error);
    },
    list: (): readonly string[] => [
      ...(lost.size > 0 ? ['token keys are lost'] : []),
      ...(forgedLog === null ? [] : [`the log was changed from outside: ${forgedLog}`]),
      ...[...forged.values()].map(({ message }) => message),
      ...damagedFiles,
    ],
    /** See `ComposedVault`. */
    async forgetRepaired(vault: RepairDeps): Promise<void> {
      if (forged.size + lost.size === 0 || performance.now() - lookedAt < repairedMs) return;
      lookedAt = performance.now();
      for (const [stream, what] of lost) {
        try {
          if (await areKeysBack(vault, stream, what)) lost.delete(stream);
        } catch (error) {
          if (isOutage(error)) return;
        }
      }
      for (const [name, found] of forged) {
        try {
          const isRepaired = await repaired(vault, found);
          // If a read found the row again in the meantime, the row is still forged.
          if (isRepaired && forged.get(name) === found) forged.delete(name);
        } catch (error) {
          if (isOutage(error)) return;
        }
      }
    },
  };
}

/**
 * Returns true if the next check would also wait until the store's time limit has passed. If rows are lost (`found`),
 * the store responds.
 */
function isOutage(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.found === null;
}

/**
 * Returns true if all keys of a stream exist again, for example because the key store was repaired. For the stream of a
 * tenant, the search keys must exist too. Throws KeyLost if they do not. Only the next start forgets a damaged
 * ciphertext.
 */
async function areKeysBack(vault: RepairDeps, stream: string, what: LostKey): Promise<boolean> {
  const { log, keys, directory } = vault;
  const [first] = await log.readClearFrom(stream, 0, 1);
  if (what === 'ciphertext_damaged' || first === undefined) return false;
  const { tenantId } = first;
  const tenant = await directory.get('tenant', tenantId);
  if (tenant !== null && tenant.removedAt !== null) return true;
  if ((await keys.tenantKeys(tenantId)) === null) return false;
  if (!isTokenStream(stream)) {
    await searchTermKeyOf(vault, tenantId);
    await indexKeysOf(vault, tenantId);
    return true;
  }
  const { life } = (await loadToken({ log }, tenantId, stream)).state;
  for (const keyId of life === null ? [] : keysOf(life)) {
    if ((await keys.use(tenantId, keyId, () => true)).state !== 'open') return false;
  }
  return true;
}

/** Returns true if a forged row was repaired since it was found. */
async function repaired(
  { directory, claims, generations, keys }: RepairDeps,
  { row: { of, name }, generation }: Forged,
): Promise<boolean> {
  if (of === 'token') {
    // The search index may be forged as well, so only a rebuild repairs a token's row. Threat: an attacker adds a
    // generation and marks it as the one to read. The vault has no key for it.
    const { read } = await generations.inUse();
    return generation !== null && read !== generation && (await keys.generations()).includes(read);
  }
  if (of === 'generation') return !(await generations.inUse()).write.includes(Number(name));
  if (of === 'claim') {
    // Threat: an attacker adds a claim right before the forged one. Such a claim is not authentic either.
    const prefix = name.slice(0, -1);
    const [next] = await claims.page(prefix, 1);
    return next === undefined || !next.cmd.startsWith(prefix) || next.claim !== null;
  }
  // Throws ForgedRow if the row is still forged.
  if ((await directory.get(of, name)) !== null) return true;
  // Threat: an attacker removes the forged row. The key store has a revision for every row that the vault wrote.
  return (await keys.directoryRevisions([{ kind: of, id: name }])).size === 0;
}

/** Wraps the stores so that each call to a store during a request records a span. */
function tracedStores(stores: Stores, spans: Spans, systems: Parts['systems']): Stores {
  const { log, rows, keys, work, claims, directory, budgets, accessLog } = stores;
  return {
    ...stores,
    log: spans.store('log', systems.log, log),
    rows: spans.store('rows', systems.rows, rows),
    keys: spans.store('keys', systems.rows, keys),
    work: spans.store('work', systems.rows, work),
    claims: spans.store('claims', systems.rows, claims),
    directory: spans.store('directory', systems.rows, directory),
    budgets: spans.store('budgets', systems.rows, budgets),
    accessLog: spans.store('access_log', systems.rows, accessLog),
  };
}
