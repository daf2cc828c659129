import type { JsonObject } from '../../domain/json.js';
import { formatTimestamp } from '../../domain/time.js';
import type { Verification } from './run-verify.js';

/** What was verified, and no more than can be known from it. */
export function verificationText({ log, access, rows, anchored, unreadableAnchorLines }: Verification): string {
  const { proven, unsigned, linked, events } = log;
  const lines = [`${events.toLocaleString('en-US')} events, each commit linked to the one before`];
  if (proven === null)
    lines.push('no checkpoint signs any of them yet: nothing proves that they are as they were written');
  else {
    const { number, position, time } = proven;
    const end = `complete up to checkpoint ${number} (position ${position}, ${formatTimestamp(time)})`;
    lines.push(anchored === 0 ? `${end}, as far as this store tells` : `${end}, and the anchor agrees`);
  }
  if (unsigned > 0) lines.push(`${unsigned} later commits are linked but not signed yet`);
  if (events > linked) lines.push(`${events - linked} of the newest have no link yet`);
  if (access !== null && access.chains > 0) {
    lines.push(`the access log holds: ${access.batches.toLocaleString('en-US')} batches in ${access.chains} chains`);
  }
  if (rows !== null) lines.push(`${rows.toLocaleString('en-US')} rows are authentic and the newest`);
  if (unreadableAnchorLines > 0) lines.push(`${unreadableAnchorLines} lines of the anchor hold no checkpoint`);
  return lines.join('\n');
}

export function verificationJson({ log, access, rows, problem, anchored }: Verification): JsonObject {
  const { proven, events, unsigned, checkpoints } = log;
  const end =
    proven === null ? null : { number: proven.number, position: proven.position, time: formatTimestamp(proven.time) };
  return {
    ...{
      type: 'summary',
      ok: problem === null,
      events,
      checkpoints: checkpoints.length,
      complete_up_to: end,
      unsigned,
    },
    ...{ rows, anchored, access_log: access === null ? null : { chains: access.chains, batches: access.batches } },
    problem: problem === null ? null : { ...problem },
  };
}
