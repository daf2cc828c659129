import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Failure } from '../failure.js';
import { openOutFile } from './out-file.js';

const secretBytes = 32;
const firstLine = 'strongroom import 1';

/**
 * The secret that ids of lines without one follow from, in a file of its own so that every run on it draws the same
 * (ADR 19). Made at first use; it is on the disk when this resolves. Threat: ids outlive erasure as keyed hashes, so they
 * must not follow from data by anything that the vault keeps.
 */
export async function resumeSecret(path: string): Promise<Buffer> {
  const found = await readSecret(path);
  if (found !== null) return found;
  const secret = randomBytes(secretBytes);
  const file = await openOutFile(path);
  await file.write(Buffer.from(`${firstLine}\n${secret.toString('hex')}\n`));
  if (await file.commit()) return secret;
  // Another import of the same file was first; what is there and cannot be read is a link to nothing.
  const other = await readSecret(path);
  if (other !== null) return other;
  throw new Failure(
    `${path} is a link to a file that is not there. Remove it, or name another one with --resume-file.`,
  );
}

async function readSecret(path: string): Promise<Buffer | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new Failure(`${path} cannot be read (${error.code ?? 'unknown reason'}).`);
  });
  if (text === null) return null;
  const [first, hex = ''] = text.split('\n');
  if (first === firstLine && /^[0-9a-f]{64}$/.test(hex)) return Buffer.from(hex, 'hex');
  throw new Failure(`${path} is not the resume file of an import. Name another one with --resume-file.`);
}
