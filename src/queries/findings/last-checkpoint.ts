import { signatureProblem } from '../../audit/check-checkpoint.js';
import { formatTimestamp } from '../../domain/time.js';
import { checkpointStream, readCheckpointEvent } from '../../events/audit/checkpoint.js';
import { UnreadableEvent } from '../../events/read-clear.js';
import type { Vault } from '../../vault/vault.js';
import { type Finding, ok, problem } from './finding.js';

/**
 * A checkpoint must sign an event within this time. This is one hour, plus five minutes because a checkpoint may be
 * late.
 */
const unsignedMsMax = 3_600_000 + 300_000;

/**
 * Checks that the newest checkpoint was signed with this vault's key, and that the events after it have not waited too
 * long for the next checkpoint.
 */
export async function lastCheckpoint({ log, keys, clock }: Pick<Vault, 'clock' | 'keys' | 'log'>): Promise<Finding> {
  const [newest] = await log.readNewest(checkpointStream, null, 1);
  if (newest !== undefined) {
    const wrong = await problemOf(newest, keys);
    if (wrong !== null)
      return problem('checkpoint', wrong, 'Run `strongroom audit verify` with the public key that you have stored.');
  }
  const [waiting] = await log.readClear(newest?.position ?? 0, 1);
  if (waiting !== undefined && clock.now() - waiting.time > unsignedMsMax) {
    return problem(
      'checkpoint',
      `no checkpoint signs the events since ${formatTimestamp(waiting.time)} (position ${waiting.position})`,
      'Start the service, or a worker: it signs within an hour. If it is running, see its log.',
    );
  }
  if (newest === undefined) return ok('checkpoint', 'none yet: the oldest event is less than an hour old');
  return ok(
    'checkpoint',
    `checkpoint ${newest.revision + 1} of ${formatTimestamp(newest.time)} is signed by the key of this vault`,
  );
}

async function problemOf(
  event: Parameters<typeof readCheckpointEvent>[0],
  keys: Pick<Vault['keys'], 'signingKey'>,
): Promise<string | null> {
  try {
    return signatureProblem(readCheckpointEvent(event), (await keys.signingKey()).publicKey);
  } catch (error) {
    if (error instanceof UnreadableEvent) return error.message;
    throw error;
  }
}
