import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Failure } from '../failure.js';
import { unreadable } from '../file-fault.js';
import { openOutFile } from '../files/out-file.js';

const secretBytes = 32;
const firstLine = 'strongroom import 1';

/**
 * Returns the secret that an import uses to derive ids for lines that contain none. The secret is stored in a separate
 * file, so every run that uses this file derives the same ids (ADR 19). If the file does not exist, creates it and
 * flushes it to disk.
 *
 * Threat: an attacker reads the keyed hashes of ids. These hashes remain after erasure. If an id could be computed from
 * the data and the vault's stores alone, the attacker could use its hash to confirm a guess about erased data.
 */
export async function resumeSecret(path: string): Promise<Buffer> {
  const found = await readSecret(path);
  if (found !== null) return found;
  const secret = randomBytes(secretBytes);
  const file = await openOutFile(path);
  await file.write(Buffer.from(`${firstLine}\n${secret.toString('hex')}\n`));
  if (await file.commit()) return secret;
  // Either a concurrent import has just created the file, or the path is a symbolic link to a missing file.
  const other = await readSecret(path);
  if (other !== null) return other;
  throw new Failure(
    `${path} is a symbolic link to a missing file. Remove it, or choose another file with --resume-file.`,
  );
}

async function readSecret(path: string): Promise<Buffer | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw unreadable(path, error);
  });
  if (text === null) return null;
  const [first, hex = ''] = text.split('\n');
  if (first === firstLine && /^[0-9a-f]{64}$/.test(hex)) return Buffer.from(hex, 'hex');
  throw new Failure(`${path} is not the resume file of an import. Choose another with --resume-file.`);
}
