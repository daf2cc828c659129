import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { type AccessRecorder, createAccessRecorder } from '../commands/access-log/access-recorder.js';
import { recordExhaustedGuesses } from '../commands/access-log/record-exhausted-guesses.js';
import { recordedWork } from '../commands/access-log/recorded-work.js';
import type { KnownCallers } from '../commands/directory/known-callers.js';
import { createGuesses } from '../commands/limits/guesses.js';
import type { LimitSettings } from '../commands/limits/limit-settings.js';
import { createStreamQueue } from '../commands/stream-queue.js';
import type { Vault } from '../commands/vault.js';
import { createVocabularies } from '../commands/vocabulary/vocabularies.js';
import { createExpressions } from '../domain/expressions/expressions.js';
import type { Metrics } from '../ports/metrics.js';
import type { Random } from '../ports/random.js';
import type { RateLimits } from '../ports/rate-limits.js';
import { countingKeyRing } from './counting-key-ring.js';

/** The stores of a profile. */
export type Stores = Pick<Vault, 'log' | 'rows' | 'work' | 'keys' | 'claims' | 'directory' | 'accessLog'>;

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

/** What all commands work with, on the stores of one profile. */
export function composeVault(
  { log, rows, claims, directory, accessLog, ...stores }: Stores,
  { metrics, rateLimits, limits, onError, ...parts }: Parts,
): { readonly vault: Vault; readonly recorder: AccessRecorder } {
  const keys = countingKeyRing(stores.keys, metrics);
  const recorder = createAccessRecorder(accessLog, onError);
  const vault: Vault = {
    ...{ log, rows, keys, claims, directory, accessLog, recorder, ...parts },
    work: recordedWork(stores.work, keys, recorder),
    expressions: createExpressions(),
    streams: createStreamQueue(),
    unfinishedErasures: new Map(),
    vocabularies: createVocabularies(),
    guesses: createGuesses(rateLimits, limits, metrics, (caller) => recordExhaustedGuesses(vault, caller)),
  };
  return { vault, recorder };
}
