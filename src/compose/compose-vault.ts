import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { type AccessRecorder, createAccessRecorder } from '../commands/access-log/access-recorder.js';
import { recordExhaustedGuesses } from '../commands/access-log/record-exhausted-guesses.js';
import { recordedWork } from '../commands/access-log/recorded-work.js';
import { createAuthenticate } from '../commands/directory/authenticate.js';
import type { KnownCallers } from '../commands/directory/known-callers.js';
import { KeyLost } from '../commands/key-lost.js';
import { createGuesses } from '../commands/limits/guesses.js';
import type { LimitSettings } from '../commands/limits/limit-settings.js';
import { createStreamQueue } from '../commands/stream-queue.js';
import { createTurns } from '../commands/turns.js';
import type { Vault } from '../commands/vault.js';
import { createVocabularies } from '../commands/vocabulary/vocabularies.js';
import { createExpressions } from '../domain/expressions/expressions.js';
import { createLimits } from '../http/limits/limits.js';
import type { Service } from '../http/service.js';
import type { Metrics } from '../ports/metrics.js';
import type { Random } from '../ports/random.js';
import type { RateLimits } from '../ports/rate-limits.js';
import { countingKeyRing } from './counting-key-ring.js';

/** The stores of a profile. */
export type Stores = Pick<
  Vault,
  'log' | 'chain' | 'rows' | 'traces' | 'generations' | 'work' | 'keys' | 'claims' | 'directory' | 'accessLog'
>;

/** What a profile decides besides its stores. */
export type Parts = Pick<Vault, 'clock' | 'random' | 'timers' | 'confirmReads' | 'cvcRetentionMs'> & {
  readonly metrics: Metrics;
  readonly rateLimits: RateLimits;
  readonly limits: LimitSettings;
  readonly knownCallers: KnownCallers;
  readonly onError: (error: unknown) => void;
};

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  integer: (maxExclusive) => randomInt(maxExclusive),
  bytes: (length) => randomBytes(length),
};

type ComposedVault = {
  readonly vault: Vault;
  readonly recorder: AccessRecorder;
  /** What the service is besides its state and its projections. */
  readonly service: Omit<Service, 'state' | 'projections'>;
  /** How many tokens were found whose key is lost. */
  readonly lostKeys: () => number;
  /** Notes a failure that no request caused. */
  readonly backgroundFailed: (error: unknown) => void;
};

/** What all commands work with, on the stores of one profile. */
export function composeVault(
  { log, chain, rows, traces, generations, claims, directory, accessLog, ...stores }: Stores,
  { metrics, rateLimits, limits, onError, ...parts }: Parts,
): ComposedVault {
  const keys = countingKeyRing(stores.keys, metrics);
  const recorder = createAccessRecorder(accessLog, onError);
  const vault: Vault = {
    ...{ log, chain, rows, traces, generations, keys, claims, directory, accessLog, recorder, ...parts },
    work: recordedWork(stores.work, keys, recorder),
    expressions: createExpressions(),
    streams: createStreamQueue(),
    turns: createTurns(),
    unfinishedErasures: new Map(),
    vocabularies: createVocabularies(),
    guesses: createGuesses(rateLimits, limits, metrics, (caller) => recordExhaustedGuesses(vault, caller)),
  };
  const lost = new Set<string>();
  const reportError = (error: unknown): void => {
    if (error instanceof KeyLost) lost.add(error.stream);
  };
  return {
    ...{ vault, recorder, lostKeys: () => lost.size },
    service: {
      ...{ vault, metrics, reportError },
      authenticate: createAuthenticate(vault),
      limits: createLimits(rateLimits, limits, metrics),
    },
    backgroundFailed(error) {
      reportError(error);
      metrics.backgroundWorkFailed();
    },
  };
}
