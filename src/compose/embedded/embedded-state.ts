import { join } from 'node:path';
import type { HeldUp } from '../../adapters/sqlite/open-stores.js';
import { counted } from '../../domain/text.js';
import type { KeyRing } from '../../keys/key-ring.js';
import type { EventLog } from '../../ports/event-log.js';
import type { RebuildStatus } from '../../ports/projections.js';
import type { ServiceState } from '../../ports/service-state.js';
import { type FoundProblem, StoreProblem } from '../../ports/store-problem.js';
import type { AccessRecorder } from '../../vault/vault.js';
import { shellWord } from '../files/shell-word.js';

type Deps = {
  readonly log: EventLog;
  readonly keys: Pick<KeyRing, 'checkpoint'>;
  /** Descriptions of the damage that this process has found. */
  readonly damage: readonly string[];
  readonly accessLog: Pick<AccessRecorder, 'isWritable' | 'problem'>;
  readonly rebuild: RebuildStatus | null;
  readonly notices: readonly FoundProblem[];
  readonly backupMadeAt: number | null;
};

/**
 * Returns the service's state. The state depends on whether `vault.db` and `keys.db` can be read and whether the last
 * write to the access log succeeded. The vault writes rows and the directory in the same transaction as their events,
 * so only the shredder can lag behind the log.
 */
export async function embeddedState(deps: Deps): Promise<ServiceState> {
  const { log, keys, damage, accessLog, rebuild, notices, backupMadeAt } = deps;
  const head = await valueOrReason('vault.db', log.head());
  const shredded = await valueOrReason('keys.db', keys.checkpoint('shredder'));
  const gap = head.value === null || shredded.value === null ? null : Math.max(0, head.value - shredded.value);
  const found = accessLog.problem();
  const unwritable = `the access log cannot be written${found === null ? '' : `: ${found.says}`}`;
  const reasons = [head.reason, shredded.reason].filter((reason) => reason !== null);
  return {
    reasons: [...new Set([...reasons, ...damage]), ...(accessLog.isWritable() ? [] : [unwritable])],
    notices,
    stores: [
      { name: 'vault.db', state: head.value === null ? 'down' : 'up' },
      { name: 'keys.db', state: shredded.value === null ? 'down' : 'up' },
      {
        name: 'access log',
        state: accessLog.isWritable() ? 'up' : 'down',
        ...(found === null ? {} : { problem: found }),
      },
    ],
    projections: [
      { name: 'tokens', gap: head.value === null ? null : 0 },
      { name: 'directory', gap: head.value === null ? null : 0 },
      { name: 'shredder', gap },
    ],
    rebuild,
    hasLeader: true,
    backupMadeAt,
  };
}

/** A backup of a large vault also reads for minutes. */
const heldUpMsMax = 30 * 60_000;

/** Returns a notice if erased data has been in a write-ahead log for long, because a program uses the file. */
export function heldUpNotices(heldUp: HeldUp | null, dataDir: string, now: number): readonly FoundProblem[] {
  if (heldUp === null || now - heldUp.since < heldUpMsMax) return [];
  const { file, since } = heldUp;
  const minutes = counted(Math.floor((now - since) / 60_000), 'minute');
  return [
    {
      check: 'erasure',
      says: `data that was erased has remained in write-ahead logs for ${minutes}, because a program is reading ${file}`,
      do:
        'If the program is not a backup that is still running, end it. ' +
        `\`fuser -v ${shellWord(join(dataDir, file))}\` lists it beside the service, process ${process.pid}`,
    },
  ];
}

/** Returns the value, or the reason why it cannot be read from the file. */
async function valueOrReason(
  fileName: string,
  asked: Promise<number>,
): Promise<{ readonly value: number | null; readonly reason: string | null }> {
  try {
    return { value: await asked, reason: null };
  } catch (error) {
    return { value: null, reason: error instanceof StoreProblem ? error.message : `${fileName} is unavailable` };
  }
}
