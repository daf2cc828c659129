import { signatureProblem } from '../../audit/check-checkpoint.js';
import { type Checkpoint, readCheckpointLine } from '../../events/audit/checkpoint.js';
import { Failure } from '../failure.js';
import { readLines } from './read-text-lines.js';

export type AnchorFile = {
  readonly checkpoints: ReadonlyMap<number, Checkpoint>;
  /** The number of lines that are not checkpoints. A crash can leave a truncated line. */
  readonly unreadable: number;
};

/**
 * Returns the checkpoints in an anchor file, by number. Throws Failure if a checkpoint belongs to a different log, was
 * not signed with this key, or contradicts another checkpoint.
 */
export async function readAnchor(path: string, publicKey: string, logId: string | null): Promise<AnchorFile> {
  const checkpoints = new Map<number, Checkpoint>();
  let unreadable = 0;
  for await (const line of readLines(path)) {
    if (line === '') continue;
    const checkpoint = readCheckpointLine(line);
    if (checkpoint === null) {
      unreadable += 1;
      continue;
    }
    const { number, log_id: of, signature } = checkpoint;
    if (logId !== null && of !== logId) throw new Failure(`${path} is the anchor of another log.`, 3);
    const wrong = signatureProblem(checkpoint, publicKey);
    if (wrong !== null) throw new Failure(`in ${path}, ${wrong}.`, 3);
    if ((checkpoints.get(number)?.signature ?? signature) !== signature) {
      throw new Failure(`${path} contains two different checkpoints with the number ${number}.`, 3);
    }
    checkpoints.set(number, checkpoint);
  }
  if (checkpoints.size === 0)
    throw new Failure(`${path} contains no checkpoints. Use the file that audit.anchor writes to.`);
  return { checkpoints, unreadable };
}
