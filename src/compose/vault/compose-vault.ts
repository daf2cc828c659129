import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { onceAMinute } from '../../adapters/shared/once-a-minute.js';
import { createAccessRecorder } from '../../audit/access-log/access-recorder.js';
import { recordExhaustedBudget, recordSuspect } from '../../audit/access-log/record-guessing.js';
import { recordedWork } from '../../audit/access-log/recorded-work.js';
import { isAccepted } from '../../commands/webhooks/post-to-webhook.js';
import { createExpressions } from '../../domain/expressions/expressions.js';
import { createStreamQueue } from '../../domain/stream-queue.js';
import { createLimits } from '../../http/limits/limits.js';
import type { Service } from '../../http/service.js';
import type { KeyRing } from '../../keys/key-ring.js';
import type { Claims } from '../../ports/claims.js';
import type { ConsoleSessions } from '../../ports/console-sessions.js';
import type { Directory } from '../../ports/directory.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Random } from '../../ports/random.js';
import type { RateLimits } from '../../ports/rate-limits.js';
import type { Spans } from '../../ports/spans.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { TokenRows } from '../../ports/token-rows.js';
import type { SendOutcome, WebhookSender } from '../../ports/webhook-sender.js';
import type { WebhookStore } from '../../ports/webhook-store.js';
import { healDirectory } from '../../projections/project-directory.js';
import { createVocabularies } from '../../search/vocabulary/vocabularies.js';
import { authenticClaims } from '../../vault/authentic-claims.js';
import { authenticConsoleSessions } from '../../vault/authentic-console-sessions.js';
import { authenticDirectory } from '../../vault/authentic-directory.js';
import { authenticTokenRows } from '../../vault/authentic-token-rows.js';
import { authenticWebhookStore } from '../../vault/authentic-webhook-store.js';
import { createAuthenticate } from '../../vault/authenticate.js';
import { createGuesses } from '../../vault/guesses.js';
import type { KnownCallers } from '../../vault/known-callers.js';
import type { LimitSettings } from '../../vault/limit-settings.js';
import type { RowCache } from '../../vault/row-cache.js';
import { createTurns } from '../../vault/turns.js';
import { createUnfinishedErasures } from '../../vault/unfinished-erasures.js';
import type { AccessRecorder, Vault } from '../../vault/vault.js';
import { createDamage } from './damage.js';

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

/** Wraps a key ring so that the metrics count the destroyed keys. */
function countedKeyRing(keys: KeyRing, metrics: Metrics): KeyRing {
  return {
    ...keys,
    async destroy(...given) {
      const destroyed = await keys.destroy(...given);
      metrics.keysDestroyed(destroyed);
      return destroyed;
    },
  };
}

/** Wraps a sender so that the metrics count the webhook requests. */
function countedSender(sender: WebhookSender, metrics: Metrics): WebhookSender {
  async function counted(sent: Promise<SendOutcome>): Promise<SendOutcome> {
    const outcome = await sent;
    metrics.webhookSent(isAccepted(outcome) ? 'accepted' : 'failed');
    return outcome;
  }
  return {
    ...sender,
    post: (...given) => counted(sender.post(...given)),
    postTest: (...given) => counted(sender.postTest(...given)),
  };
}
