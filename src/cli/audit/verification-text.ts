import { keyName } from '../../audit/make-checkpoint.js';
import type { JsonObject } from '../../domain/json.js';
import { counted } from '../../domain/text.js';
import { formatTimestamp } from '../../domain/time.js';
import type { Verification } from './run-verify.js';

/** Describes what was verified, without claiming more than the log proves. */
export function verificationText({ log, access, rows, anchored, unreadableAnchorLines, key }: Verification): string {
  const { proven, unsigned, linked, events } = log;
  const lines = [`${counted(events, 'event')}, each commit linked to the one before`];
  if (proven === null) lines.push('no checkpoint signs these events yet: nothing proves that they were not changed');
  else {
    const { number, position, time } = proven;
    const end = `complete up to checkpoint ${number} (position ${position}, ${formatTimestamp(time)})`;
    lines.push(anchored === 0 ? `${end}, according to this store alone` : `${end}, and the anchor agrees`);
    if (key.origin === 'export')
      lines.push(
        `signed by the key in this export (SHA-256 ${keyName(key.publicKey)}), which does not prove where the export ` +
          'comes from: set --public-key to the key that you have stored',
      );
  }
  if (unsigned > 0) {
    const later = proven === null ? '' : 'later ';
    lines.push(`${counted(unsigned, `${later}commit is`, `${later}commits are`)} linked but not signed yet`);
  }
  if (events > linked)
    lines.push(`${counted(events - linked, 'of the newest events has', 'of the newest events have')} no link yet`);
  if (access !== null && access.chains > 0) {
    const batches = counted(access.batches, 'batch', 'batches');
    lines.push(`the access log is intact: ${batches} in ${counted(access.chains, 'chain')}`);
  }
  if (rows !== null) lines.push(`${counted(rows, 'row is', 'rows are')} authentic and up to date`);
  if (unreadableAnchorLines > 0)
    lines.push(
      `${counted(unreadableAnchorLines, 'line of the anchor contains', 'lines of the anchor contain')} no checkpoint`,
    );
  return lines.join('\n');
}

export function verificationJson({ log, access, rows, problem, anchored, key }: Verification): JsonObject {
  const { proven, events, unsigned, checkpoints } = log;
  const end =
    proven === null ? null : { number: proven.number, position: proven.position, time: formatTimestamp(proven.time) };
  return {
    type: 'summary',
    ok: problem === null,
    events,
    checkpoints: checkpoints.length,
    complete_up_to: end,
    unsigned,
    rows,
    anchored,
    access_log: access === null ? null : { chains: access.chains, batches: access.batches },
    public_key: { origin: key.origin, sha256: keyName(key.publicKey) },
    problem: problem === null ? null : { ...problem },
  };
}
